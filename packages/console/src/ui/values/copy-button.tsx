import { useEffect, useState } from "react";

const shownMs = 1500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      // A page without the permission leaves the text to be selected by hand.
      () => setCopied(false),
    );
  };
  return (
    <button type="button" className="button small" aria-label={label} onClick={copy}>
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}
