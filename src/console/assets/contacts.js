// Selected contacts. A choice of all of them ticks the boxes, a box chooses the ticked ones, and their number is shown.
"use strict";

{
  const figures = new Intl.NumberFormat(document.documentElement.lang);
  document.addEventListener("change", ({ target }) => {
    const form = target.closest?.("form[data-selection]");
    if (!form || !["scope", "contact"].includes(target.name)) return;
    const boxes = [...form.querySelectorAll("input[name=contact]")];
    const scope = form.querySelector("input[name=scope]:checked");
    if (target.name === "contact") form.querySelector("input[name=scope][value=picked]").checked = true;
    else if (target.value !== "picked") for (const box of boxes) box.checked = true;
    const isAll = target.name === "scope" && scope.value === "all";
    const count = isAll ? Number(form.dataset.selection) : boxes.filter((box) => box.checked).length;
    const shown = form.querySelector("[data-selected]");
    shown.textContent = shown.dataset.selected.replace("#", figures.format(count));
    shown.hidden = false;
  });
}
