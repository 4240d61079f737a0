/** Messages that have arrived and were not read yet. */
export interface MessageQueue<Message> {
  /** False if there are too many. */
  push: (message: Message) => boolean;
  /** The next one, when there is one; undefined after the end. */
  next: () => Promise<Message | undefined>;
  end: () => void;
}

const waitingMax = 10_000;

export function createMessageQueue<Message>(): MessageQueue<Message> {
  let waiting: Message[] = [];
  let read = 0;
  let isEnded = false;
  let wake: (() => void) | undefined;
  const notify = () => {
    wake?.();
    wake = undefined;
  };
  return {
    push: (message) => {
      waiting.push(message);
      notify();
      return waiting.length - read <= waitingMax;
    },
    next: async () => {
      for (;;) {
        if (read < waiting.length) return waiting[read++];
        waiting = [];
        read = 0;
        if (isEnded) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    end: () => {
      isEnded = true;
      notify();
    },
  };
}
