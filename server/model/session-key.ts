/** Carries the key that a page has bound its session to (D-214). */
export const SESSION_KEY_HEADER = 'X-Terrarium-Session-Key';
