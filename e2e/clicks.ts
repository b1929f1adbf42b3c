import { expect, type Page } from './window.ts';

/**
 * Tasks of a new user, and how many clicks each takes: `before` in the first version of the window, if it was counted, and `now`,
 * which the journeys check. Typing and keys do not count.
 */
export const TASKS = {
  'a first lead': { now: 3 },
  'a missing lead is explained, and brought back': { before: 15, now: 2 },
  'what became of an e-mail address': { now: 1 },
  'two invocations side by side': { now: 2 },
  'the slowest call of the last minute': { now: 2 },
  'a request by hand': { now: 2 },
  'an own form from scratch, until its lead': { before: 21, now: 8 },
  'a colleague with a workspace and rights': { before: 28, now: 3 },
  'a role for several people': { now: 7 },
  'who changed what': { now: 2 },
  'a wrong change is undone': { now: 3 },
  'an invocation is replayed after a fix': { now: 3 },
  'a rule that catches what goes to a host': { now: 5 },
  'why a pipeline fails': { now: 2 },
  'code is edited, saved and run by keys': { now: 0 },
  'a lambda is pushed to another platform': { now: 8 },
  'the demonstration begins again': { now: 0 },
} satisfies Record<string, { before?: number; now: number }>;

/** Counts clicks on this page from now on. @returns a function that ends the task and checks the number of clicks */
export async function beginTask(page: Page, name: keyof typeof TASKS): Promise<() => Promise<void>> {
  await page.evaluate(`
    if (window.clicks === undefined) addEventListener('click', (event) => event.detail > 0 && window.clicks++, true);
    window.clicks = 0;
  `);
  return async () => expect(await page.evaluate<number>('window.clicks'), name).toBe(TASKS[name].now);
}
