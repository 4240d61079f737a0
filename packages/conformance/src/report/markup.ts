import { safeText } from "./safe-text.js";

/** Text for HTML and XML: nothing of a target becomes markup, and control characters are shown as escapes. */
export function escapeMarkup(text: string): string {
  return safeText(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
