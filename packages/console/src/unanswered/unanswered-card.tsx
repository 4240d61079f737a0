import { type ComponentProps, type ReactNode, useState } from "react";
import { useAction } from "../api/use-action";
import { Problem } from "../ui/panels/problem";
import { Time } from "../ui/values/time";
import { ForgetQuestion } from "./forget-question";
import { keptUntil, type Unanswered } from "./stored-requests";
import { wasNotMade } from "./was-not-made";

interface UnansweredCardProps<Body, Answer> {
  request: Unanswered<Body>;
  label: string;
  /** What was sent, and what asking again does. */
  children: ReactNode;
  post: (body: Body, options: { idempotencyKey: string }) => Promise<Answer>;
  onAnswer: (answer: Answer) => void;
  onForget: () => void;
  words: ComponentProps<typeof ForgetQuestion>["words"];
}

/** What another tab, or an earlier one, has sent. Asking again is sending it again with its key: it gives the answer, and creates it once at most. */
export function UnansweredCard<Body, Answer>(props: UnansweredCardProps<Body, Answer>) {
  const { request, label, children, post, onAnswer, onForget, words } = props;
  const { key, body, sentAt } = request;
  const [isForgetting, setForgetting] = useState(false);
  const ask = useAction({
    mutationFn: () => post(body, { idempotencyKey: key }),
    onSuccess: (answer) => {
      onForget();
      onAnswer(answer);
    },
  });
  const wasRefused = ask.error !== null && wasNotMade(ask.error, true);
  return (
    <section className="card stack" aria-label={label}>
      <div className="notice" data-tone="wait" role="status">
        <p>{children}</p>
        <p className="small">
          This browser keeps it for you until <Time at={keptUntil(sentAt)} />.
        </p>
      </div>
      {ask.error !== null && <Problem error={ask.error} />}
      {wasRefused && <p role="status">It was refused, and nothing was created. It can be forgotten.</p>}
      <div className="row">
        <button
          type="button"
          className="button"
          data-tone="primary"
          disabled={ask.isPending}
          onClick={() => ask.mutate()}
        >
          {ask.isPending ? "Asking" : "Ask again"}
        </button>
        <button
          type="button"
          className="button"
          disabled={ask.isPending}
          onClick={wasRefused ? onForget : () => setForgetting(true)}
        >
          Forget it
        </button>
      </div>
      {isForgetting && (
        <ForgetQuestion
          words={words}
          onConfirm={() => {
            setForgetting(false);
            onForget();
          }}
          onClose={() => setForgetting(false)}
        />
      )}
    </section>
  );
}
