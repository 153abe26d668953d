// What is drawn, without a page: the document with its texts put in, the nodes in groups and in order, sums.
// docs/schema/ClusterPicture.json says what a document has.

/** @typedef {{ name: string, unit: string }} Resource */
/** @typedef {{ name: string, owner: string, amount: string, state: string, expires: string }} Reservation */
/** @typedef {{ name: string, status: string, pool: string, zone: string, amounts: number[][], reservations: Reservation[] }} NodeTile */
/** @typedef {{ category: number, rank: number, words: string }} Mark */
/** @typedef {{ label: string, meaning: string, letter: string, color: string, count: number }} Category */
/** @typedef {{ words: string, commands: string[] }} Fix */
/** @typedef {{ title: string, lines: string[], asks: number[], categories: Category[], marks: (Mark | null)[], fixes: Fix[] }} Layer */
/** @typedef {{ metadata: any, resources: Resource[], nodes: NodeTile[], layers: Layer[] }} Picture */
/** @typedef {{ name: string, at: number[], sums: number[][] }} Group */
/** @typedef {{ layer: number, by: string, order: string, resource: number, text: string, category: number }} View */

/** With more pools than this the nodes are grouped by something else. */
const POOLS_MAX = 60;
/** So many categories have a colour of their own; the others have their letters. */
const COLORS = 7;

/**
 * @param {any} raw a document of the kind ClusterPicture
 * @returns {Picture}
 */
export function read(raw) {
  /** @param {number} at */
  const text = (at) => raw.texts[at] ?? "";
  const nodes = raw.nodes.map((/** @type {any} */ node) => ({
    ...node,
    status: text(node.status),
    pool: text(node.pool),
    zone: text(node.zone),
    reservations: node.reservations.map((/** @type {any} */ [name, owner, amount, state, expires]) => ({
      name, owner: text(owner), amount: text(amount), state: text(state), expires: text(expires),
    })),
  }));
  const layers = raw.layers.map((/** @type {any} */ layer) => {
    const marks = layer.marks.map((/** @type {any} */ mark) => mark && { category: mark[0], rank: mark[1], words: text(mark[2]) });
    return { ...layer, marks, categories: legend(layer.categories, marks) };
  });
  return { ...raw, nodes, layers };
}

/**
 * Gives each category a letter and a colour; those with most nodes come first in the alphabet.
 * @param {any[]} categories
 * @param {(Mark | null)[]} marks
 * @returns {Category[]}
 */
function legend(categories, marks) {
  const counts = categories.map(() => 0);
  for (const mark of marks) if (mark) counts[mark.category] += 1;
  const blocked = categories.map((_, at) => at).filter((at) => categories[at].meaning === "blocked");
  blocked.sort((one, other) => counts[other] - counts[one]);
  return categories.map(({ label, meaning }, at) => {
    const place = blocked.indexOf(at);
    const letter = meaning === "fits" ? "✓" : meaning === "plain" ? "·" : letters(place);
    const color = meaning === "blocked" ? (place < COLORS ? `k${place}` : "rest") : meaning;
    return { label, meaning, letter, color, count: counts[at] };
  });
}

/** @param {number} place */
function letters(place) {
  const letter = String.fromCharCode(65 + (place % 26));
  return place < 26 ? letter : letter + Math.floor(place / 26);
}

/**
 * How a picture is shown at first.
 * @param {Picture} picture
 * @returns {View}
 */
export function first(picture) {
  const pools = new Set(picture.nodes.map((node) => node.pool)).size;
  const zones = new Set(picture.nodes.map((node) => node.zone)).size;
  const by = pools <= POOLS_MAX ? "pool" : zones > 1 ? "zone" : "reason";
  return { layer: 0, by, order: "near", resource: 0, text: "", category: -1 };
}

/** @param {Layer} layer @param {number} at @returns {Category | null} */
export function categoryOf(layer, at) {
  const mark = layer.marks[at];
  return mark ? layer.categories[mark.category] : null;
}

/**
 * The nodes that are shown, in groups; the group with most nodes first.
 * @param {Picture} picture
 * @param {View} view
 * @returns {Group[]}
 */
export function groups(picture, view) {
  const layer = picture.layers[view.layer];
  const words = view.text.trim().toLowerCase();
  /** @type {Map<string, number[]>} */
  const found = new Map();
  picture.nodes.forEach((node, at) => {
    const mark = layer.marks[at];
    if (view.category >= 0 && mark?.category !== view.category) return;
    if (words && !about(node, categoryOf(layer, at), mark).includes(words)) return;
    const name = view.by === "reason" ? (categoryOf(layer, at)?.label ?? "not said") : view.by === "zone" ? node.zone : node.pool;
    const known = found.get(name);
    if (known) known.push(at);
    else found.set(name, [at]);
  });
  const all = [...found].map(([name, at]) => ({ name, at: at.sort(comparison(picture, view)), sums: sums(picture, at) }));
  return all.sort((one, other) => other.at.length - one.at.length || (one.name < other.name ? -1 : 1));
}

/** @param {NodeTile} node @param {Category | null} category @param {Mark | null} mark */
function about(node, category, mark) {
  const kept = node.reservations.map((one) => `${one.owner} ${one.name} ${one.state}`).join(" ");
  return `${node.name} ${node.status} ${node.pool} ${node.zone} ${category?.label ?? ""} ${mark?.words ?? ""} ${kept}`.toLowerCase();
}

/**
 * @param {Picture} picture
 * @param {View} view
 * @returns {(one: number, other: number) => number}
 */
function comparison(picture, view) {
  const { marks } = picture.layers[view.layer];
  /** @param {number} at */
  const free = (at) => picture.nodes[at].amounts[view.resource][3];
  /** @param {number} at */
  const rank = (at) => marks[at]?.rank ?? Infinity;
  /** @param {number} one @param {number} other */
  const name = (one, other) => (picture.nodes[one].name < picture.nodes[other].name ? -1 : 1);
  if (view.order === "name") return name;
  if (view.order === "free") return (one, other) => free(other) - free(one) || name(one, other);
  return (one, other) => rank(one) - rank(other) || free(other) - free(one) || name(one, other);
}

/**
 * The four amounts of each resource, of all these nodes together.
 * @param {Picture} picture
 * @param {number[]} nodes
 */
export function sums(picture, nodes) {
  const all = picture.resources.map(() => [0, 0, 0, 0]);
  for (const at of nodes) {
    picture.nodes[at].amounts.forEach((amounts, resource) => amounts.forEach((value, part) => (all[resource][part] += value)));
  }
  return all;
}

/**
 * Used, reserved, and what a pod asks for, as parts of a bar, in percent: where each ends. More than the node has is cut off.
 * @param {number[]} amounts
 * @param {number} asks
 */
export function bar([allocatable, used, reserved], asks) {
  /** @param {number} value */
  const percent = (value) => (allocatable > 0 ? Math.max(0, Math.min(100, (value * 100) / allocatable)) : value > 0 ? 100 : 0);
  return { used: percent(used), reserved: percent(used + reserved), asks: percent(used + reserved + asks), isShort: asks > allocatable - used - reserved };
}
