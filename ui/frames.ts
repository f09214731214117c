/** Two versions of a page in frames beside each other: where one is scrolled to, the other follows. */

export function tendFrames(): void {
  for (const pair of document.querySelectorAll("[data-frames]")) {
    const frames = [...pair.querySelectorAll("iframe")];
    addEventListener("message", (event: MessageEvent<{ readonly scrolledTo?: unknown } | null>) => {
      const share = event.data?.scrolledTo;
      if (typeof share !== "number" || !frames.some(({ contentWindow }) => contentWindow === event.source)) return;
      for (const { contentWindow } of frames) {
        // They have no origin of their own to be named; what is said is a number.
        if (contentWindow !== event.source) contentWindow?.postMessage({ scrollTo: share }, "*");
      }
    });
  }
}
