// A report: draws the document that stands in the page.

import { read } from "./model.js";
import { draw } from "./picture.js";

const page = /** @type {HTMLElement} */ (document.getElementById("page"));
const data = /** @type {HTMLElement} */ (document.getElementById("picture"));
draw(page, read(JSON.parse(data.textContent ?? "")));
