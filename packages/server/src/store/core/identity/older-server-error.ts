/** The server is on an earlier timeline of the cluster than this process has worked on. It counts as unavailable. */
export class OlderServerError extends Error {
  readonly timeline: string;
  readonly seenTimeline: string;

  constructor(timeline: string, seenTimeline: string) {
    super(
      `the server is on timeline ${timeline}, but this process has worked on timeline ${seenTimeline} of the same cluster`,
    );
    this.timeline = timeline;
    this.seenTimeline = seenTimeline;
  }
}
