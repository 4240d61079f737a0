import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { pages } from "./pages";

const sequenceMs = 1500;

/** `g` and a letter opens a page, `Ctrl-K` or `/` finds, `?` lists the keys. None works while something is typed. */
export function useShortcuts({
  openPalette,
  openKeys,
}: {
  openPalette: () => void;
  openKeys: () => void;
}): void {
  const navigate = useNavigate();
  // A page that renders again between two keys must not forget the first.
  const acts = useRef({ navigate, openPalette, openKeys });
  acts.current = { navigate, openPalette, openKeys };
  useEffect(() => {
    let pending: { key: string; at: number } | undefined;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        acts.current.openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const begun =
        pending !== undefined && event.timeStamp - pending.at < sequenceMs ? pending.key : undefined;
      pending = undefined;
      if (begun !== undefined) {
        const page = pages.find(({ keys }) => keys === `${begun} ${event.key}`);
        if (page !== undefined) void acts.current.navigate({ to: page.path });
      } else if (event.key === "?") acts.current.openKeys();
      else if (event.key === "/") {
        event.preventDefault();
        acts.current.openPalette();
      } else if (event.key === "g") pending = { key: "g", at: event.timeStamp };
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select, dialog") !== null)
  );
}
