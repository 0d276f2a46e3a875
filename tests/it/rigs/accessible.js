// What WCAG 2.2 AA asks for and a program can see: contrast, names of what can be used, pictures with a text, a
// language, a title, headings in order, ids that are one, regions that scroll and can have the focus.
(() => {
  const found = [];
  const say = (what, node) => found.push(`${what}: ${node.outerHTML.slice(0, 160)}`);
  const isSeen = (node) => {
    const box = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    return box.width > 0 && box.height > 0 && style.visibility !== "hidden" && box.right > 0;
  };
  const channels = (color) => (color.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = (color) => {
    const [red, green, blue] = channels(color).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if ((channels(color)[3] ?? 1) === 1) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(node) || node.closest("svg, option, script") || !isSeen(node)) continue;
    seen.add(node);
    if (node.closest(":disabled")) continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(style.color), light(ground(node))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (isLarge ? 3 : 4.5)) say(`contrast ${contrast.toFixed(2)}`, node);
  }
  const nameOf = (node) =>
    node.getAttribute("aria-label") ?? [...(node.labels ?? [])].map((label) => label.textContent).join("") + node.textContent + (node.querySelector("img")?.alt ?? "");
  for (const node of document.querySelectorAll("a, button, input:not([type=hidden]), select, summary")) {
    const label = node.matches("input, select") ? node.getAttribute("aria-label") ?? [...node.labels].map((one) => one.textContent).join("") : nameOf(node);
    if (!label.trim()) say("no name", node);
  }
  for (const node of document.querySelectorAll("img:not([alt]), svg:not([aria-hidden]):not([aria-label])")) say("no text", node);
  for (const node of document.querySelectorAll("[role=region], form[role=search], nav, section, article")) {
    if (node.matches("[role=region], section, article, nav") && !node.getAttribute("aria-label")) say("no name", node);
  }
  if (!document.documentElement.lang) found.push("no language");
  if (!document.title.trim()) found.push("no title");
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) found.push("not one main");
  let level = 1;
  for (const node of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const own = Number(node.tagName[1]);
    if (own > level + 1) say("a heading too deep", node);
    level = own;
  }
  const ids = new Set();
  for (const node of document.querySelectorAll("[id]")) {
    if (ids.has(node.id)) say("an id twice", node);
    ids.add(node.id);
  }
  for (const node of document.querySelectorAll("pre, .scroll")) {
    if (isSeen(node) && node.scrollWidth > node.clientWidth && node.tabIndex < 0) say("scrolls without focus", node);
  }
  return found;
})()
