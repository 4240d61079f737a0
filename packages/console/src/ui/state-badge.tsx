const tones: Readonly<Record<string, "good" | "wait" | "bad" | "info">> = {
  accepted: "info",
  processing: "info",
  broadcast: "info",
  confirming: "info",
  open: "info",
  partially_filled: "info",
  creating: "info",
  delivering: "info",
  awaiting_approval: "wait",
  pending: "wait",
  held: "wait",
  paused: "wait",
  frozen: "wait",
  invited: "wait",
  completed: "good",
  filled: "good",
  active: "good",
  delivered: "good",
  approved: "good",
  verified: "good",
  succeeded: "good",
  following: "good",
  trading: "good",
  connecting: "wait",
  rejected: "bad",
  refused: "bad",
  failed: "bad",
  disabled: "bad",
  exhausted: "bad",
  halted: "bad",
};

/** The word says it, the colour repeats it. */
export function StateBadge({ state }: { state: string }) {
  return (
    <span className="badge" data-tone={tones[state]}>
      {state.replaceAll("_", " ")}
    </span>
  );
}
