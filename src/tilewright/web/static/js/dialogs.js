/** The two dialogs of Play: a new game, and a position set up by hand. */

import { get } from "./api.js";
import { $, make } from "./dom.js";
import { colours, decode, games } from "./games.js";
import { t } from "./language.js";

const NAMED = ["rows", "columns", "four", "start_tiles", "win_tile", "cascade", "max_tile"]; // options with a text

/** Ask for a game, its variant and a seed; `begin(spec, seed)` may refuse by throwing. */
export async function askForGame(current, begin) {
  const all = await games();
  const name = all.some((game) => game.name === current.split(":")[0]) ? current.split(":")[0] : all[0].name;
  const chosen = () => all.find((game) => game.name === $("new-games").querySelector(":checked").value);
  $("new-games").replaceChildren(
    ...all.map((game) => {
      const input = make("input", { type: "radio", name: "game", value: game.name });
      input.checked = game.name === name;
      input.addEventListener("change", () => fillOptions(chosen()));
      return make("label", {}, input, game.name[0].toUpperCase() + game.name.slice(1));
    }),
  );
  fillOptions(chosen(), current);
  $("new-seed").value = "";
  run($("new-dialog"), $("new-said"), $("new-cancel"), async () => {
    const given = $("new-seed").value;
    await begin(specOf(chosen()), given === "" ? Math.floor(Math.random() * 1e6) : Number(given));
  });
}

/** Options as they are in the game on the table, if it is this game; as usual otherwise. */
function fillOptions(game, current = game.name) {
  const [name, words = ""] = current.split(":");
  const given = name === game.name ? Object.fromEntries(words.split(",").filter(Boolean).map((word) => word.split("="))) : {};
  $("new-options").closest("details").open = Object.keys(given).length > 0;
  $("new-options").replaceChildren(
    ...game.options.map((option) => {
      const isTruth = option.kind === "bool";
      const step = option.kind === "float" ? "any" : "1";
      const kinds = { bool: { type: "checkbox" }, str: { type: "text" } };
      const input = make("input", { name: option.name, ...(kinds[option.kind] ?? { type: "number", step }) });
      if (isTruth) input.checked = option.name in given ? /^(true|1|yes)$/i.test(given[option.name]) : option.default;
      else input.value = given[option.name] ?? option.default ?? "";
      const words = NAMED.includes(option.name) ? t(`option.${option.name}`) : option.name;
      return isTruth ? make("label", { class: "check" }, input, words) : make("label", {}, words, input);
    }),
  );
}

/** Only what differs from the usual game is part of its spec. */
function specOf(game) {
  const changed = game.options.flatMap(({ name, kind, default: usual }) => {
    const input = $("new-options").querySelector(`[name="${name}"]`);
    const value = kind === "bool" ? input.checked : input.value.trim();
    return value === (kind === "bool" ? usual : String(usual ?? "")) ? [] : [`${name}=${value}`];
  });
  return changed.length ? `${game.name}:${changed.join(",")}` : game.name;
}

/** Set up a position; `use(position)` gets what the server read. */
export function askForBoard(game, code, use) {
  const { tiles, notes } = decode(code, game);
  const text = $("edit-text");
  const hint = $("edit-hint").querySelector("select");
  $("edit-hint").hidden = !game.hints.length;
  hint.replaceChildren(make("option", { value: "" }, t("edit.unknown")), ...game.hints.map((text) => make("option", { value: text }, text)));
  hint.value = (notes.hint ?? "").replace(/^\+.*/, "+");
  text.value = "";
  text.placeholder = game.example;
  const cells = tiles.flatMap((row, i) =>
    row.map((value, k) => {
      const about = { type: "text", inputmode: "numeric", "aria-label": t("edit.cell", { row: i + 1, column: k + 1 }) };
      const input = make("input", { ...about, autocomplete: "off" });
      input.value = value || "";
      input.addEventListener("input", () => tint(input, game));
      input.addEventListener("focus", () => input.select());
      tint(input, game);
      return input;
    }),
  );
  $("edit-cells").style.setProperty("--columns", game.columns);
  $("edit-cells").replaceChildren(...cells);
  $("edit-clear").onclick = () => {
    for (const input of cells) {
      input.value = "";
      tint(input, game);
    }
    cells[0].focus();
  };
  run($("edit-dialog"), $("edit-said"), $("edit-cancel"), async () => {
    if (!text.value.trim()) checkCells(cells, game);
    const typed = cells.map((input) => input.value.trim() || "0").join(" ");
    const known = hint.value && game.hints.length ? ` hint=${hint.value}` : "";
    await use(await get("board", { game: game.spec, board: text.value.trim() || typed + known }));
  });
}

/** What the server would refuse, said without asking it. */
function checkCells(cells, game) {
  for (const input of cells) {
    const value = input.value.trim() || "0";
    if (game.tiles.includes(Number(value))) continue;
    input.focus();
    const place = input.getAttribute("aria-label");
    throw new Error(t("edit.wrong", { place, value, game: game.title, tiles: game.tiles.slice(1, 5).join(", ") }));
  }
}

function tint(input, game) {
  const value = Number(input.value);
  const known = value && game.tiles.includes(value);
  const { back, fore } = known ? colours(game, value) : { back: "", fore: "" };
  input.style.setProperty("--back", back);
  input.style.setProperty("--fore", fore);
}

/** Show a dialog until `done` succeeds or it is given up; what is wrong is said in it. */
function run(dialog, said, cancel, done) {
  said.textContent = "";
  cancel.onclick = () => dialog.close();
  dialog.querySelector("form").onsubmit = async (event) => {
    event.preventDefault();
    try {
      await done();
      dialog.close();
      $("board").focus({ preventScroll: true }); // not the button that opened the dialog
    } catch (error) {
      said.textContent = error.message;
    }
  };
  dialog.showModal();
}
