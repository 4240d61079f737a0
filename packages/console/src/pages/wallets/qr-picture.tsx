import { encode } from "uqr";

/** The quiet zone that the standard asks for, in cells. */
const border = 4;

/** An address as a QR code. It is dark on light in both themes, because readers expect that. */
export function QrPicture({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
