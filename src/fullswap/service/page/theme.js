// Before anything is drawn, so that a dark page never flashes light.
(() => {
  try {
    const kept = localStorage.getItem("fullswap.theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // A browser that keeps nothing follows the system.
  }
})();
