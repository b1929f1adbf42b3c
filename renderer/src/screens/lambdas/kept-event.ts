const keyOf = (lambdaId: string) => `terrarium.event.${lambdaId}`;

/** The event that was last being edited for a lambda in this browser. Named events are kept by the platform. */
export function keptEvent(lambdaId: string): string | undefined {
  try {
    return localStorage.getItem(keyOf(lambdaId)) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keepEvent(lambdaId: string, event: string): void {
  try {
    localStorage.setItem(keyOf(lambdaId), event);
  } catch {
    // Storage is full or forbidden: the event holds until the page is closed.
  }
}
