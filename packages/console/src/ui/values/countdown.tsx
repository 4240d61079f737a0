import { useEffect, useEffectEvent, useRef, useState } from "react";
import { serviceClock } from "../../api/service-clock";
import { Time } from "./time";

/** Below an hour, `durationOf` shows seconds. */
const secondsShownMs = 3_600_000;

interface CountdownProps {
  until: string;
  /** A deadline becomes urgent, and ends. What happens by itself then, such as the next attempt, is no deadline. */
  isDeadline?: boolean;
  /** The time has come while it was shown. */
  onOver?: () => void;
}

/** How long is left until a time, and the time itself. */
export function Countdown({ until, isDeadline = true, onOver }: CountdownProps) {
  const [now, setNow] = useState(() => serviceClock.nowMs());
  const leftMs = Date.parse(until) - now;
  const isOver = leftMs <= 0;
  const wasOver = useRef(isOver);
  const tell = useEffectEvent(() => onOver?.());
  useEffect(() => {
    if (isOver && !wasOver.current) tell();
    wasOver.current = isOver;
  }, [isOver]);
  useEffect(() => {
    if (leftMs <= 0) return undefined;
    const timer = setTimeout(() => setNow(serviceClock.nowMs()), leftMs < secondsShownMs ? 1000 : 30_000);
    return () => clearTimeout(timer);
  }, [leftMs]);
  const isUrgent = isDeadline && leftMs < secondsShownMs;
  return (
    <span>
      <span className={isUrgent ? "urgent" : undefined}>
        {leftMs > 0 ? durationOf(leftMs) : isDeadline ? "over" : "due"}
      </span>{" "}
      <span className="quiet small">
        <Time at={until} />
      </span>
    </span>
  );
}

/** The two largest units, such as `2 h 5 min`. */
export function durationOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const units = [
    ["d", 86_400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ] as const;
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first === -1) return "0 s";
  let rest = seconds;
  const parts = units.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count === 0 ? undefined : `${count} ${unit}`;
  });
  return parts.filter((part) => part !== undefined).join(" ");
}
