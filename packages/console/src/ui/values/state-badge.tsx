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
  waiting: "wait",
  unverified: "wait",
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
  healthy: "good",
  running: "good",
  up: "good",
  ready: "good",
  rejected: "bad",
  "not approved": "bad",
  refused: "bad",
  failed: "bad",
  disabled: "bad",
  exhausted: "bad",
  halted: "bad",
  unreachable: "bad",
  stalled: "bad",
  failing: "bad",
  down: "bad",
  overloaded: "bad",
  not_ready: "bad",
  set_aside: "bad",
};

/** The word says it, the colour repeats it. */
export function StateBadge({ state }: { state: string }) {
  return (
    <span className="badge" data-tone={tones[state]}>
      {state.replaceAll("_", " ")}
    </span>
  );
}
