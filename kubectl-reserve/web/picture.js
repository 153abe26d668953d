// Draws a picture of the cluster: what was asked, the legend, the nodes in groups, the numbers of one node, and the same as a table.

import { amount, element, plural } from "./text.js";
import { bar, categoryOf, first, groups, sums } from "./model.js";

/** @typedef {import("./model.js").Picture} Picture */
/** @typedef {import("./model.js").View} View */
/** @typedef {import("./model.js").Group} Group */
/** @typedef {{ picture: Picture, view: View, opened: Map<string, boolean>, parts: Record<string, HTMLElement> }} State */

/** Up to so many nodes of a group have their names and bars; more become small tiles. */
const NAMED_MAX = 48;
/** If no more nodes than this are shown, all groups are open. */
const OPEN_MAX = 96;
/** So many rows of the table are made at a time, so that the page answers meanwhile. */
const ROWS = 200;

/**
 * Draws `picture` into `root`. Called again, it draws the new picture as the old one was shown.
 * @param {HTMLElement} root
 * @param {Picture} picture
 * @param {State} [before]
 * @returns {State}
 */
export function draw(root, picture, before) {
  const view = before?.view ?? first(picture);
  view.layer = Math.min(view.layer, picture.layers.length - 1);
  const parts = {
    question: element("section", { class: "question" }),
    legend: element("div", { class: "legend", role: "group", "aria-label": "Legend: choose what is shown" }),
    nodes: element("div", { class: "nodes" }),
    node: element("section", { class: "node", "aria-label": "Numbers of one node", "aria-live": "polite" }),
    tables: element("section", { class: "tables" }),
  };
  const state = { picture, view, opened: before?.opened ?? new Map(), parts };
  parts.node.append(element("p", { class: "muted" }, "Point at a node, tap it, or go to it with the arrow keys, to see its numbers."));
  root.replaceChildren(
    header(picture),
    parts.question,
    controls(state),
    parts.legend,
    barLegend(picture),
    element("div", { class: "picture" }, parts.nodes, parts.node),
    parts.tables,
  );
  listen(state);
  drawLayer(state);
  return state;
}

/** @param {Picture} picture */
function header({ metadata, nodes }) {
  const source = metadata.isSnapshot
    ? `Snapshot ${metadata.cluster}, ${metadata.age} old when this was made`
    : `Cluster ${metadata.cluster}`;
  const facts = [source, `read at ${metadata.readAt.slice(0, 19).replace("T", " ")} UTC`, plural(nodes.length, "node")];
  return element(
    "header",
    {},
    element("h1", {}, metadata.title),
    element("p", { class: "muted" }, `${facts.join(" · ")} · kubectl reserve ${metadata.version}`),
  );
}

/**
 * A choice with a label.
 * @param {string} label
 * @param {[string, string][]} options value and text
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
function choice(label, options, chosen, choose) {
  const select = element("select", {}, ...options.map(([value, text]) => element("option", { value, selected: value === chosen }, text)));
  select.addEventListener("change", () => choose(select.value));
  return element("label", {}, `${label} `, select);
}

/** @param {State} state */
function controls(state) {
  const { picture, view } = state;
  const all = element("div", { class: "controls" });
  if (picture.layers.length > 1) {
    const layers = picture.layers.map((layer, at) => /** @type {[string, string]} */ ([String(at), layer.title]));
    all.append(choice("Show", layers, String(view.layer), (value) => {
      view.layer = Number(value);
      view.category = -1;
      drawLayer(state);
    }));
  }
  const resources = picture.resources.map(({ name }, at) => /** @type {[string, string]} */ ([String(at), name]));
  const search = element("input", { type: "search", placeholder: "name, label, owner …" });
  search.addEventListener("input", () => {
    view.text = search.value;
    drawNodes(state);
  });
  all.append(
    choice("Group by", [["pool", "pool"], ["zone", "zone"], ["reason", "reason"]], view.by, (by) => redraw(state, { by })),
    choice("Sort by", [["near", "nearness"], ["free", "free room"], ["name", "name"]], view.order, (order) => redraw(state, { order })),
    choice("Bars", resources, String(view.resource), (value) => redraw(state, { resource: Number(value) })),
    element("label", {}, "Filter ", search),
  );
  return all;
}

/** @param {State} state @param {Partial<View>} change */
function redraw(state, change) {
  Object.assign(state.view, change);
  drawNodes(state);
}

/** @param {Picture} picture */
function barLegend({ layers }) {
  const part = (/** @type {string} */ kind, /** @type {string} */ text) =>
    element("span", {}, element("i", { class: `sample ${kind}` }), ` ${text}`);
  const hasAsks = layers.some((layer) => layer.asks.some((asks) => asks > 0));
  const asks = hasAsks ? [part("asks", "what a pod asks for"), part("asks short", "more than is free")] : [];
  return element("p", { class: "bars muted" }, "Bars: ", part("used", "used"), part("kept", "reserved"), part("free", "free"), ...asks);
}

/** What was asked and answered, the legend, the nodes and the tables. @param {State} state */
function drawLayer(state) {
  const { picture, view, parts } = state;
  const layer = picture.layers[view.layer];
  const [verdict, ...rest] = layer.lines;
  const fixes = layer.fixes.map((fix) =>
    element("li", {}, fix.words, ...fix.commands.map((command) => element("pre", { tabindex: 0 }, command))));
  parts.question.replaceChildren(
    ...(verdict ? [element("p", { class: "verdict" }, verdict)] : []),
    ...rest.map((line) => element("p", {}, line)),
    ...(fixes.length ? [element("h2", {}, "What would help"), element("ol", {}, ...fixes)] : []),
  );
  const order = layer.categories.map((_, at) => at).sort((one, other) => layer.categories[other].count - layer.categories[one].count);
  parts.legend.replaceChildren(...order.map((at) => {
    const { letter, color, label, count } = layer.categories[at];
    const button = element("button", { type: "button", "aria-pressed": "false" },
      element("span", { class: `letter ${color}`, "aria-hidden": "true" }, letter), ` ${label} `, element("b", {}, count.toLocaleString("en")));
    button.addEventListener("click", () => {
      view.category = view.category === at ? -1 : at;
      for (const other of parts.legend.children) other.setAttribute("aria-pressed", String(other === button && view.category === at));
      drawNodes(state);
    });
    return button;
  }));
  drawNodes(state);
  drawTables(state);
}

/** @param {State} state */
function drawNodes(state) {
  const { parts, picture, view, opened } = state;
  const all = groups(picture, view);
  const count = all.reduce((sum, group) => sum + group.at.length, 0);
  const shown = all.map((group) => {
    const tiles = element("div", { class: group.at.length > NAMED_MAX ? "tiles small" : "tiles", role: "toolbar", "aria-label": `Nodes of ${group.name}` });
    const isOpen = opened.get(group.name) ?? count <= OPEN_MAX;
    const details = element("details", { class: "group", open: isOpen }, summary(state, group), tiles);
    if (isOpen) drawTiles(state, group, tiles);
    details.addEventListener("toggle", () => {
      if (details.open && !tiles.hasChildNodes()) drawTiles(state, group, tiles);
      if (details.open !== isOpen || opened.has(group.name)) opened.set(group.name, details.open);
    });
    return details;
  });
  parts.nodes.replaceChildren(...(shown.length ? shown : [element("p", { class: "muted" }, picture.nodes.length ? "No node is left by this filter." : "The nodes were not read.")]));
}

/** A group in one line: how many nodes of each category, and their room together. @param {State} state @param {Group} group */
function summary({ picture, view }, group) {
  const layer = picture.layers[view.layer];
  const counts = layer.categories.map(() => 0);
  for (const at of group.at) {
    const mark = layer.marks[at];
    if (mark) counts[mark.category] += 1;
  }
  const { name, unit } = picture.resources[view.resource];
  const sum = group.sums[view.resource];
  const chips = counts.map((count, at) => ({ count, at })).filter(({ count }) => count > 0).sort((one, other) => other.count - one.count);
  const stack = element("span", { class: "stack", "aria-hidden": "true" }, ...chips.map(({ count, at }) => {
    const { letter, color } = layer.categories[at];
    const part = element("span", { class: color }, count * 12 >= group.at.length ? `${letter} ${count.toLocaleString("en")}` : "");
    part.style.setProperty("flex-grow", String(count));
    return part;
  }));
  const words = chips.map(({ count, at }) => `${layer.categories[at].label} ${count}`).join(", ");
  return element("summary", {},
    element("span", { class: "name" }, element("b", {}, group.name), ` ${plural(group.at.length, "node")}`),
    stack,
    element("span", { class: "hidden" }, words),
    element("span", { class: "room" }, barOf(sum, 0), ` ${name}: ${share(sum)} free, ${amount(unit, sum[3])} of ${amount(unit, sum[0])}`));
}

/** The free part, in percent. @param {number[]} amounts */
function share([allocatable, , , free]) {
  return `${allocatable > 0 ? Math.round((free * 100) / allocatable) : 0} %`;
}

/**
 * @param {number[]} amounts
 * @param {number} asks
 * @param {boolean} fits whether the pod fits: then what is reserved may be for the pod itself
 */
function barOf(amounts, asks, fits = false) {
  const ends = bar(amounts, asks);
  const part = (/** @type {string} */ kind, /** @type {number} */ from, /** @type {number} */ to) => {
    const made = element("i", { class: kind });
    made.style.setProperty("inset-inline-start", `${from}%`);
    made.style.setProperty("width", `${to - from}%`);
    return made;
  };
  const all = element("span", { class: "bar", "aria-hidden": "true" }, part("used", 0, ends.used), part("kept", ends.used, ends.reserved));
  // What does not fit is drawn over the end of the bar, as wide as what is asked for.
  const width = amounts[0] > 0 ? Math.min(100, (asks * 100) / amounts[0]) : 100;
  if (asks > 0) all.append(ends.isShort ? part(fits ? "asks" : "asks short", 100 - width, 100) : part("asks", ends.reserved, ends.asks));
  return all;
}

/** @param {State} state @param {Group} group @param {HTMLElement} tiles */
function drawTiles({ picture, view }, group, tiles) {
  const layer = picture.layers[view.layer];
  const isSmall = group.at.length > NAMED_MAX;
  const bars = isSmall ? [] : shownResources(picture, view);
  tiles.replaceChildren(...group.at.map((at, place) => {
    const node = picture.nodes[at];
    const category = categoryOf(layer, at);
    const tile = element("button", {
      type: "button", class: `tile ${category?.color ?? "plain"}`, tabindex: place === 0 ? 0 : -1, "data-at": at,
      "aria-label": `${category?.letter ?? "·"} ${node.name}: ${category?.label ?? node.status}`,
    }, element("span", { class: "letter" }, category?.letter ?? "·"));
    if (isSmall) {
      const ends = bar(node.amounts[view.resource], 0);
      tile.style.setProperty("--used-end", `${ends.used}%`);
      tile.style.setProperty("--kept-end", `${ends.reserved}%`);
    } else {
      tile.append(" ", element("span", { class: "name" }, node.name), ...bars.map((at) => barOf(node.amounts[at], layer.asks[at], category?.meaning === "fits")));
    }
    return tile;
  }));
}

/** The resources whose bars a large tile has: the chosen one, and those that are asked for. @param {Picture} picture @param {View} view */
function shownResources(picture, view) {
  const { asks } = picture.layers[view.layer];
  const asked = picture.resources.map((_, at) => at).filter((at) => asks[at] > 0 && picture.resources[at].name !== "pods");
  return [...new Set([view.resource, ...asked])].slice(0, 4);
}

/** Pointer, touch and keyboard on the tiles. @param {State} state */
function listen(state) {
  const { nodes } = state.parts;
  /** @param {Event} event */
  const tileOf = (event) => /** @type {HTMLElement | null} */ (event.target instanceof Element ? event.target.closest(".tile") : null);
  for (const kind of ["pointerover", "focusin", "click"]) {
    nodes.addEventListener(kind, (event) => {
      const tile = tileOf(event);
      if (tile) drawNode(state, Number(tile.dataset.at));
    });
  }
  nodes.addEventListener("keydown", (event) => {
    const tile = tileOf(event);
    const next = tile && neighbour(tile, event.key);
    if (!tile || !next) return;
    event.preventDefault();
    tile.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

/** The tile that a key leads to. @param {HTMLElement} tile @param {string} key @returns {HTMLElement | null} */
function neighbour(tile, key) {
  const all = /** @type {HTMLElement[]} */ ([...(tile.parentElement?.children ?? [])]);
  const at = all.indexOf(tile);
  const columns = Math.max(1, all.findIndex((other) => other.offsetTop > all[0].offsetTop));
  /** @type {Record<string, number>} */
  const places = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns, ArrowUp: at - columns, Home: 0, End: all.length - 1 };
  return all[places[key]] ?? null;
}

/** The numbers of one node. @param {State} state @param {number} at */
function drawNode({ picture, view, parts }, at) {
  const node = picture.nodes[at];
  const layer = picture.layers[view.layer];
  const category = categoryOf(layer, at);
  const mark = layer.marks[at];
  const hasAsks = layer.asks.some((asks) => asks > 0);
  const heads = ["", "allocatable", "used", "reserved", "free", ...(hasAsks ? ["asks"] : [])];
  const rows = picture.resources.map(({ name, unit }, resource) => {
    const asks = layer.asks[resource];
    const cells = [...node.amounts[resource], ...(hasAsks ? [asks] : [])];
    return element("tr", { class: asks > node.amounts[resource][3] && category?.meaning !== "fits" ? "short" : "" },
      element("th", { scope: "row" }, name), ...cells.map((value) => element("td", {}, amount(unit, value))));
  });
  const reason = category ? [element("span", { class: `letter ${category.color}`, "aria-hidden": "true" }, category.letter), ` ${category.label}`] : ["Nothing is said about it."];
  parts.node.replaceChildren(
    element("h2", {}, node.name),
    element("p", {}, ...reason),
    ...(mark?.words && mark.words !== category?.label ? [element("p", {}, mark.words)] : []),
    element("p", { class: "muted" }, [node.status, `pool ${node.pool}`, node.zone, ...(mark && mark.rank > 0 ? [`number ${mark.rank} of the nearest`] : [])].join(" · ")),
    element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((head) => element(head ? "th" : "td", head ? { scope: "col" } : {}, head)))), element("tbody", {}, ...rows)),
    ...(node.reservations.length ? [element("h3", {}, "Reserved"), element("ul", {}, ...node.reservations.map((one) => element("li", {}, reservation(one))))] : []),
  );
}

/** @param {import("./model.js").Reservation} one */
function reservation({ name, owner, amount, state, expires }) {
  return `${amount || "nothing"} for ${owner} (${state}, ${expires === "<none>" ? "no expiry" : expires.endsWith("ago") ? `expired ${expires}` : `${expires} left`}), ${name}`;
}

/** The same as tables, for search and for screen readers. @param {State} state */
function drawTables(state) {
  const { picture, view, parts } = state;
  const layer = picture.layers[view.layer];
  const total = sums(picture, picture.nodes.map((_, at) => at));
  const resourceHeads = picture.resources.flatMap(({ name }, at) => [`${name} allocatable`, "used", "reserved", "free", ...(layer.asks[at] > 0 ? ["asks"] : [])]);
  /** @param {number[][]} amounts */
  const cells = (amounts) => picture.resources.flatMap(({ unit }, at) =>
    [...amounts[at], ...(layer.asks[at] > 0 ? [layer.asks[at]] : [])].map((value) => amount(unit, value)));
  const order = picture.nodes.map((_, at) => at).sort((one, other) => (layer.marks[one]?.rank ?? Infinity) - (layer.marks[other]?.rank ?? Infinity));
  const nodeRows = order.map((at) => () => {
    const node = picture.nodes[at];
    const category = categoryOf(layer, at);
    return [node.name, node.status, node.pool, node.zone, category?.label ?? "", layer.marks[at]?.words ?? "", ...cells(node.amounts), node.reservations.map(reservation).join("; ")];
  });
  const kept = picture.nodes.flatMap((node) => node.reservations.map((one) => () => [node.name, one.owner, one.amount, one.state, one.expires, one.name]));
  // Where no pod is asked about, the reservations are what is looked for.
  const isOpen = kept.length > 0 && kept.length <= OPEN_MAX && layer.asks.every((asks) => asks === 0);
  parts.tables.replaceChildren(
    table(`${plural(picture.nodes.length, "node")} as a table`, false, ["node", "status", "pool", "zone", "reason", "particulars", ...resourceHeads, "reserved for"],
      [() => ["all", "", "", "", "", "", ...cells(total), ""], ...nodeRows]),
    table(`${plural(kept.length, "reservation")} as a table`, isOpen, ["node", "owner", "amount", "state", "expires", "name"], kept),
  );
}

/**
 * A folded table. Its rows are made a few at a time; a browser's search opens it.
 * @param {string} title
 * @param {boolean} open
 * @param {string[]} heads
 * @param {(() => string[])[]} rows
 */
function table(title, open, heads, rows) {
  const body = element("tbody", {});
  const more = () => {
    if (!body.isConnected && body.hasChildNodes()) return;
    const next = rows.slice(body.children.length, body.children.length + ROWS).map((row) => {
      const [name, ...cells] = row();
      return element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell)));
    });
    body.append(...next);
    if (body.children.length < rows.length) setTimeout(more);
    else body.setAttribute("data-complete", "");
  };
  setTimeout(more);
  return element("details", { open }, element("summary", {}, title),
    element("div", { class: "scroll", role: "region", "aria-label": title, tabindex: 0 },
      element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))), body)));
}
