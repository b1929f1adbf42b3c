/** A value stored in this browser; undefined if there is none, or if storage is not allowed. */
export function storedText(place: string): string | undefined {
  try {
    return localStorage.getItem(place) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it for the next time. Where storage is full or forbidden it is valid until the page is closed. */
export function storeText(place: string, text: string): void {
  try {
    localStorage.setItem(place, text);
  } catch {
    // See above.
  }
}
