/** The page starts: first the theme and the language, then everything that shows texts. */

import { $, make, memory, setTheme } from "./dom.js";
import { language, loadLanguage, translate } from "./language.js";

setTheme(memory.get("theme", ""));
const names = await loadLanguage(memory.get("language", ""));
document.documentElement.lang = language();
translate(document);
$("language").replaceChildren(...Object.entries(names).map(([value, name]) => make("option", { value, lang: value }, name)));
$("language").value = language();
$("language").addEventListener("change", () => {
  memory.set("language", $("language").value);
  location.reload();
});

await import("./views.js");
