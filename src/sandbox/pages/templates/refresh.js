// Fetches the page again every five seconds while it is looked at; without scripts a reload does it.
setInterval(async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [here, there] = [document.querySelector("main"), page.querySelector("main")];
    if (there && here.innerHTML !== there.innerHTML) here.replaceWith(there);
  } catch { /* the sandbox has ended; the page stays as it was */ }
}, 5000);
