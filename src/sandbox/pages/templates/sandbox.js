// Keeps an open page as it is on the server, opens letters beside the list, and copies lines. Without it every page
// works by loading it again.

// What is selected or has the focus is not taken away.
const inUse = (node) => {
  const at = document.activeElement;
  const selection = getSelection();
  return (at !== document.body && node.contains(at)) || (!selection.isCollapsed && selection.containsNode(node, true));
};

// Makes `here` as `there` is, with as few changes as possible.
function bring(here, there) {
  if (here.isEqualNode(there) || here.dataset?.own) return;
  if (here.nodeType === Node.TEXT_NODE) {
    if (!inUse(here)) here.data = there.data;
    return;
  }
  for (const { name } of [...here.attributes]) {
    if (!there.hasAttribute(name) && name !== "open") here.removeAttribute(name);
  }
  for (const { name, value } of there.attributes) {
    if (here.getAttribute(name) !== value) here.setAttribute(name, value);
  }
  if (here.tagName === "INPUT" || here.tagName === "SELECT") return;
  let at = here.firstChild;
  for (const child of [...there.childNodes]) {
    const named = child.id ? here.querySelector(`:scope > #${CSS.escape(child.id)}`) : null;
    const alike = at && !at.id && !child.id && at.nodeType === child.nodeType && at.nodeName === child.nodeName;
    const kept = named ?? (alike ? at : null);
    if (!kept) {
      here.insertBefore(document.importNode(child, true), at);
      continue;
    }
    if (kept !== at) here.insertBefore(kept, at);
    bring(kept, child);
    at = kept.nextSibling;
  }
  while (at) {
    const next = at.nextSibling;
    if (!inUse(at)) at.remove();
    at = next;
  }
}

// The first row that is seen stays where it is seen.
function keepPlace(change) {
  const list = document.getElementById("list");
  const isScrolled = list && list.scrollHeight > list.clientHeight;
  const top = isScrolled ? list.getBoundingClientRect().top : 0;
  const rows = [...document.querySelectorAll("#letters > li")];
  const row = rows.find((one) => one.getBoundingClientRect().bottom > top);
  const before = row?.getBoundingClientRect().top;
  change();
  const isAtTop = isScrolled ? list.scrollTop === 0 : scrollY === 0;
  if (!row?.isConnected || isAtTop) return;
  const moved = row.getBoundingClientRect().top - before;
  if (isScrolled) list.scrollTop += moved;
  else scrollBy(0, moved);
}

// Shows what is at an address, unless something else was asked for meanwhile. Returns false if that can't be.
let asked = 0;
let pause = null;
async function show(address, isOther) {
  const turn = ++asked;
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (turn !== asked) return true;
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const there = page.querySelector("main");
  if (turn !== asked) return true;
  if (!there) return false;
  keepPlace(() => {
    // Another letter has nothing of the one before.
    if (isOther) document.getElementById("pane")?.replaceChildren();
    bring(document.querySelector("main"), there);
  });
  document.title = page.title;
  document.body.className = page.body.className;
  if (isOther) document.getElementById("pane")?.scrollTo(0, 0);
  return true;
}

async function open(address, how) {
  clearTimeout(pause);
  const isSame = new URL(address, location.href).href === location.href;
  if (how === "push" && !isSame) history.pushState(null, "", address);
  if (how === "replace") history.replaceState(null, "", address);
  if (!(await show(address, true).catch(() => false))) location.assign(address);
}
addEventListener("popstate", () => {
  const asked = new URLSearchParams(location.search);
  for (const field of finder?.querySelectorAll("[name]") ?? []) field.value = asked.get(field.name) ?? "";
  open(location.href);
});

// One page is fetched at a time, and then it rests a little.
let isDue = false;
let isBusy = false;
async function refresh() {
  isDue = true;
  if (isBusy || document.hidden || document.getElementById("done")) return;
  isBusy = true;
  while (isDue) {
    isDue = false;
    const began = performance.now();
    try {
      // The letter is gone.
      if (!(await show(location.href, false)) && location.pathname.startsWith("/inbox/")) open(`/inbox${location.search}`, "replace");
    } catch { /* the sandbox has ended; the page stays as it was */ }
    await new Promise((resolve) => setTimeout(resolve, Math.max(200, 4 * (performance.now() - began))));
  }
  isBusy = false;
}

// A browser has few connections to one place, so only pages that are looked at listen.
let source = null;
let timer = null;
function listen() {
  source?.close();
  clearInterval(timer);
  source = null;
  if (document.hidden) return;
  source = new EventSource("/events");
  source.onmessage = refresh;
  source.onerror = () => {
    clearInterval(timer);
    if (source?.readyState === EventSource.CLOSED) timer = setInterval(refresh, 5000);
  };
}
document.addEventListener("visibilitychange", listen);
addEventListener("pagehide", () => source?.close());
listen();

document.addEventListener("click", (event) => {
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  const link = event.target.closest("#letters a");
  if (link && isPlain) {
    event.preventDefault();
    open(link.href, "push");
  }
  const button = event.target.closest("button.copy");
  if (button) copy(button);
});

async function copy(button) {
  const text = button.dataset.copy ?? document.getElementById(button.dataset.copyOf).textContent;
  button.dataset.before ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without TLS, a browser lends the clipboard to pages of this machine only.
    const field = document.body.appendChild(document.createElement("textarea"));
    field.value = text;
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  button.textContent = document.body.dataset.copied;
  setTimeout(() => { button.textContent = button.dataset.before; }, 1500);
}

// What is looked for.
const finder = document.getElementById("finder");
function look(how) {
  const fields = [...new FormData(finder)].filter(([, value]) => value);
  const query = new URLSearchParams(fields).toString();
  open(query ? `/inbox?${query}` : "/inbox", how);
}
finder?.addEventListener("submit", (event) => {
  event.preventDefault();
  look("push");
});
finder?.addEventListener("input", () => {
  clearTimeout(pause);
  // A letter that is read stays where one can go back to.
  pause = setTimeout(() => look(location.pathname === "/inbox" ? "replace" : "push"), 150);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const isTyping = event.target.closest("input, select, textarea");
  if (event.key === "Escape" && isTyping) {
    // Otherwise the browser would empty the field, too.
    event.preventDefault();
    event.target.blur();
  }
  if (isTyping || !finder) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("q").select();
  }
  if (event.key === "j" || event.key === "k") {
    const links = [...document.querySelectorAll("#letters a")];
    const at = links.findIndex((link) => link.getAttribute("aria-current"));
    const link = links[at < 0 ? 0 : at + (event.key === "j" ? 1 : -1)];
    if (!link) return;
    link.scrollIntoView({ block: "nearest" });
    open(link.href, at < 0 ? "push" : "replace");
  }
});

// The line beside the form for faults says what the form says.
const fault = document.getElementById("fault");
fault?.addEventListener("input", () => {
  const order = {};
  for (const [name, value] of new FormData(fault)) {
    if (name !== "do" && value) order[name] = /^\d+$/.test(value) ? Number(value) : value;
  }
  const line = fault.querySelector(".line");
  const text = line.querySelector("code").textContent.replace(/'.*'/, `'${JSON.stringify(order)}'`);
  line.querySelector("code").textContent = text;
  line.querySelector("button").dataset.copy = text;
  line.dataset.own = "yes";
});
