// Fetches the page again every five seconds while it is looked at; without scripts a reload does it.
// Parts that are the same stay, and with them what is selected and has the focus. A part that changed while it is
// selected or has the focus is put in later.
const inUse = (node) =>
  node.contains(document.activeElement) || (!getSelection().isCollapsed && getSelection().containsNode(node, true));

function bring(here, there) {
  const olds = [...here.children];
  const news = [...there.children];
  const nameOf = (node) => node.id || "";
  let place = here.firstElementChild;
  for (const fresh of news) {
    const kept = olds.find((old) => old.isConnected && (old.isEqualNode(fresh) || (nameOf(fresh) && nameOf(old) === nameOf(fresh))));
    if (!kept) {
      here.insertBefore(document.importNode(fresh, true), place);
      continue;
    }
    olds.splice(olds.indexOf(kept), 1);
    if (kept !== place) here.insertBefore(kept, place);
    place = kept.nextElementSibling;
    if (!kept.isEqualNode(fresh) && !inUse(kept)) kept.replaceWith(document.importNode(fresh, true));
  }
  for (const old of olds) if (!inUse(old)) old.remove();
}

setInterval(async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const there = page.querySelector("main");
    if (there) bring(document.querySelector("main"), there);
  } catch { /* the sandbox has ended; the page stays as it was */ }
}, 5000);
