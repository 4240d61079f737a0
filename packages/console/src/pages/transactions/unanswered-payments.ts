import type { CreateTransactionBody } from "@bursar/client";
import { useSyncExternalStore } from "react";
import { useMe } from "../../session/use-me";

/** A payment that was sent, and whose answer has not come. */
export interface UnansweredPayment {
  key: string;
  body: CreateTransactionBody;
  sentAt: string;
}

const prefix = "bursar.unanswered.";
/** The oldest are forgotten first. */
const keptMax = 50;
const listeners = new Set<() => void>();

/**
 * In all tabs of this browser, and after they were closed: the person who sent a payment would type it again elsewhere, with another key, and
 * it would be paid twice. Nobody else is shown them.
 */
export function useUnansweredPayments() {
  const name = `${prefix}${useMe().data?.client.id}`;
  const stored = useSyncExternalStore(subscribe, () => localStorage.getItem(name));
  return {
    payments: parse(stored),
    remember: (payment: UnansweredPayment) => write(name, [...without(name, payment.key), payment]),
    forget: (key: string) => write(name, without(name, key)),
  };
}

function without(name: string, key: string): UnansweredPayment[] {
  return parse(localStorage.getItem(name)).filter((payment) => payment.key !== key);
}

function write(name: string, payments: readonly UnansweredPayment[]): void {
  if (payments.length === 0) localStorage.removeItem(name);
  else localStorage.setItem(name, JSON.stringify(payments.slice(-keptMax)));
  for (const listener of listeners) listener();
}

function parse(stored: string | null): UnansweredPayment[] {
  try {
    const value: unknown = stored === null ? [] : JSON.parse(stored);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** `storage` says what other tabs have written. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", listener);
  };
}
