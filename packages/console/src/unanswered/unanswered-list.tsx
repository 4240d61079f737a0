import { useState } from "react";
import { useIsShown } from "../ui/forms/use-is-shown";
import { plainly } from "../ui/values/foreign-text";
import { Time } from "../ui/values/time";
import { type UnansweredKind, useUnanswered } from "./unanswered";
import { UnansweredCard } from "./unanswered-card";
import type { UnansweredWords } from "./unanswered-words";
import { useEndedElsewhere } from "./use-ended-elsewhere";

interface UnansweredListProps<Body, Answer> {
  kind: UnansweredKind;
  words: UnansweredWords<Body>;
  /** What the form of this page has sent itself. */
  exceptKey: string | undefined;
  post: (body: Body, options: { idempotencyKey: string }) => Promise<Answer>;
  onAnswer: (answer: Answer, isShown: boolean) => void;
}

/** What this person has sent in other tabs, or in earlier ones, before another is typed. */
export function UnansweredList<Body, Answer>(props: UnansweredListProps<Body, Answer>) {
  const { kind, words, exceptKey, post, onAnswer } = props;
  const { folder, requests, forget } = useUnanswered<Body>(kind);
  const { noun, done, nameOf, describe, advice } = words;
  const Noun = `${noun.slice(0, 1).toUpperCase()}${noun.slice(1)}`;
  // A card goes as soon as another tab has the answer, and the page stays.
  const isShown = useIsShown();
  const [own] = useState(() => new Set<string>());
  // What the form has given up to a card can end elsewhere again.
  for (const { key } of requests) own.delete(key);
  if (exceptKey !== undefined) own.add(exceptKey);
  const ended = useEndedElsewhere(folder, requests, own);
  return (
    <>
      {ended.map(({ key, body }) => (
        <p key={key} className="notice" data-tone="wait" role="status">
          The {noun} {describe(body)} was answered or forgotten in another tab, and may have been {done}.
          Before you type it again, {advice}.
        </p>
      ))}
      {requests
        .filter(({ key }) => key !== exceptKey)
        .map((request) => (
          <UnansweredCard
            key={request.key}
            request={request}
            label={`${Noun} ${plainly(nameOf(request.body))} without an answer`}
            words={words}
            post={post}
            onAnswer={(answer) => onAnswer(answer, isShown())}
            onForget={() => {
              own.add(request.key);
              forget(request.key);
            }}
          >
            The {noun} {describe(request.body)} was sent <Time at={request.sentAt} />, and no answer has come.
            It may have been {done}. Ask again before you type it again: that sends the same {noun}, which is{" "}
            {done} now if it was not, and never twice.
          </UnansweredCard>
        ))}
    </>
  );
}

interface SecondOneProps<Body> {
  kind: UnansweredKind;
  words: UnansweredWords<Body>;
  /** What is about to be sent. */
  idempotencyKey: string;
  /** Whether what was sent before can be the same, typed again. */
  isAlike: (sent: Body) => boolean;
}

/** Warns, in the question before something is sent, of what is like it and has no answer. */
export function SecondOne<Body>({ kind, words, idempotencyKey, isAlike }: SecondOneProps<Body>) {
  const { requests } = useUnanswered<Body>(kind);
  const { noun, done, describe } = words;
  return requests
    .filter(({ key, body }) => key !== idempotencyKey && isAlike(body))
    .map(({ key, body, sentAt }) => (
      <p key={key} className="notice" data-tone="bad" role="alert">
        The {noun} {describe(body)}, sent <Time at={sentAt} />, has no answer yet, and may have been {done}.
        This would be a second {noun}.
      </p>
    ));
}
