/** A value stored in this browser; undefined if there is none, or if storage is not allowed. */
export function storedText(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it for the next time. Where storage is full or forbidden it is valid until the page is closed. */
export function storeText(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // See above.
  }
}
