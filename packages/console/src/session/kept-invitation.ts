const stored = "bursar-invitation";

/** An invitation is valid no longer. */
const validMs = 30 * 60_000;

/**
 * This tab keeps an invitation until it is used, so that a reload does not lose it. A browser that refuses storage has it until then.
 */
export function keepInvitation(invitation: string, now: number): void {
  try {
    sessionStorage.setItem(stored, JSON.stringify({ invitation, at: now }));
  } catch {
    // The page has it in memory.
  }
}

export function keptInvitation(now: number): string | undefined {
  try {
    const { invitation, at } = JSON.parse(sessionStorage.getItem(stored) ?? "{}") as Partial<Kept>;
    if (typeof invitation === "string" && typeof at === "number" && now - at < validMs) return invitation;
  } catch {
    // It is of no use.
  }
  forgetInvitation();
  return undefined;
}

export function forgetInvitation(): void {
  try {
    sessionStorage.removeItem(stored);
  } catch {
    // Nothing was kept.
  }
}

interface Kept {
  invitation: string;
  at: number;
}
