// Text and elements: how amounts are written, and how a page is put together. Everything from the cluster becomes text, never markup.

/**
 * An amount as `kubectl reserve nodes` writes it.
 * @param {string} unit
 * @param {number} value
 * @returns {string}
 */
export function amount(unit, value) {
  if (unit === "milli") return `${value / 1000}`;
  if (unit !== "bytes") return String(value);
  const size = Math.abs(value);
  for (const [name, power] of /** @type {[string, number][]} */ ([["Pi", 5], ["Ti", 4], ["Gi", 3], ["Mi", 2], ["Ki", 1]])) {
    const scale = 1024 ** power;
    if (size >= scale) {
      const tenths = Math.floor((size * 10) / scale);
      return `${value < 0 ? "-" : ""}${Math.floor(tenths / 10)}${tenths % 10 ? `.${tenths % 10}` : ""}${name}`;
    }
  }
  return String(value);
}

/**
 * `1 node`, `2 nodes`.
 * @param {number} count
 * @param {string} thing
 */
export function plural(count, thing) {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}

/**
 * An element with attributes and children. An attribute that is `false` is left out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}
