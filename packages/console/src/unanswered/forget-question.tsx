import { Confirm } from "../ui/dialogs/confirm";
import type { UnansweredWords } from "./unanswered-words";

interface ForgetQuestionProps {
  words: Pick<UnansweredWords<never>, "noun" | "done" | "advice">;
  onConfirm: () => void;
  onClose: () => void;
}

const idle = { isPending: false, error: null };

/** Asks before something is forgotten that may have been created. */
export function ForgetQuestion({ words, onConfirm, onClose }: ForgetQuestionProps) {
  const { noun, done, advice } = words;
  return (
    <Confirm
      title={`It may have been ${done} already`}
      verb="Forget it here"
      tone="danger"
      closeVerb="Keep it"
      mutation={idle}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>
        This forgets the {noun} in this browser and cancels nothing. Typed again, it can be {done} twice:{" "}
        {advice}.
      </p>
    </Confirm>
  );
}
