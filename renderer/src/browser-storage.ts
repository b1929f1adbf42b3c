/** What is kept in this browser; undefined where nothing is, or nothing may be. */
export function storedText(place: string): string | undefined {
  try {
    return localStorage.getItem(place) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it for the next time. Where storage is full or forbidden it holds until the page is left. */
export function storeText(place: string, text: string): void {
  try {
    localStorage.setItem(place, text);
  } catch {
    // See above.
  }
}
