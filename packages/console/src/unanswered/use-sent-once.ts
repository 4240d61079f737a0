import { useIsMutating } from "@tanstack/react-query";
import { serviceClock } from "../api/service-clock";
import { useAction } from "../api/use-action";
import type { useKeyedDraft } from "../ui/forms/use-draft";
import { useIsShown } from "../ui/forms/use-is-shown";
import { type UnansweredKind, useUnanswered } from "./unanswered";
import { isFinalRefusal, refuseUnsent, wasNotMade } from "./was-not-made";

/** A draft of something that is created once. */
export interface Sent<Body> {
  /** What was sent with the key of the draft, while its outcome is not known. What was typed can mean something else when it is sent again. */
  sent: Body | undefined;
}

interface Attempt<Body, Fields> {
  key: string;
  body: Body;
  /** What the body was made of; undefined if it is sent again. */
  typed: Fields | undefined;
  /** Also if it was sent in another tab, which has the same draft. */
  isRepeated: boolean;
}

interface SentOnceOptions<Body, Fields extends Sent<Body>, Answer> {
  kind: UnansweredKind;
  draft: ReturnType<typeof useKeyedDraft<Fields>>;
  post: (body: Body, options: { idempotencyKey: string }) => Promise<Answer>;
  /** Throws if what was typed means something else by now. */
  review?: (body: Body, typed: Fields) => Promise<void>;
  /** The draft is still that of what was answered. */
  onEnd: () => void;
  /** Nobody is taken from the page that they have gone to meanwhile. */
  onAnswer: (answer: Answer, isShown: boolean) => void;
}

/**
 * Sends what a form has, once, whatever becomes of the answer. A lost answer is resolved by sending the same again with its key, also after
 * a reload, in another tab, or after logging out and in. Until then nothing can be edited: other content has another key, and would be
 * created beside the first.
 */
export function useSentOnce<Body, Fields extends Sent<Body>, Answer>({
  kind,
  draft,
  post,
  review,
  onEnd,
  onAnswer,
}: SentOnceOptions<Body, Fields, Answer>) {
  const { sent, key } = draft.value;
  const unanswered = useUnanswered<Body>(kind);
  const isShown = useIsShown();
  const noteSent = (part: Sent<Body> & { key: string }) => draft.change(part as Partial<typeof draft.value>);
  const send = useAction({
    mutationFn: async ({ key, body, typed }: Attempt<Body, Fields>) => {
      if (typed !== undefined) {
        // Before anything is waited for, so that nothing else is typed meanwhile.
        unanswered.remember({ key, body, sentAt: new Date(serviceClock.nowMs()).toISOString() });
        noteSent({ sent: body, key });
        await review?.(body, typed).catch(refuseUnsent);
      }
      return post(body, { idempotencyKey: key });
    },
    onSuccess: (answer, { key }) => {
      // Before the draft ends, which makes it no request of another tab.
      unanswered.forget(key);
      // Something else may be typed by now.
      if (draft.read().key === key) onEnd();
      onAnswer(answer, isShown());
    },
    onError: (error, { key, isRepeated }) => {
      if (!wasNotMade(error, isRepeated)) return;
      unanswered.forget(key);
      if (draft.read().key === key) noteSent({ sent: undefined, key });
    },
  });
  // Also if this page was left and is shown again.
  const isUnderWay = useIsMutating({
    predicate: ({ state }) => (state.variables as Partial<Attempt<Body, Fields>> | undefined)?.key === key,
  });
  const isPending = send.isPending || isUnderWay > 0;
  return {
    send,
    isPending,
    isLocked: sent !== undefined || isPending,
    isUnknown: sent !== undefined && !isPending,
    submit: (body: Body) =>
      send.mutate({
        key,
        body: sent ?? body,
        typed: sent === undefined ? draft.value : undefined,
        isRepeated: sent !== undefined || unanswered.requests.some((request) => request.key === key),
      }),
    /** Asked for again, it was refused: it can never be answered otherwise, and something in it may have to be changed. */
    wasRefusedAgain: sent !== undefined && isFinalRefusal(send.error),
    /** What was typed can be edited, as something else. What was sent is still listed, and warned of, because it may have been created. */
    editAsNew: () => {
      draft.edit({ sent: undefined } as Partial<Fields>);
      send.reset();
    },
    discard: () => {
      unanswered.forget(key);
      draft.clear();
      send.reset();
    },
  };
}
