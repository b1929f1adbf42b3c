import { expect, type Page } from './window.ts';

/**
 * What a newcomer wants of the window, and how many clicks it takes: `before` where it was counted when the window was first
 * tried so, `now` as the journeys hold it. Typing and keys are no clicks.
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

/** Counts what is pressed from now on; the page stays one. @returns what says that the task is done, in so many clicks as promised */
export async function beginTask(page: Page, name: keyof typeof TASKS): Promise<() => Promise<void>> {
  await page.evaluate(`
    if (window.clicks === undefined) addEventListener('click', (event) => event.detail > 0 && window.clicks++, true);
    window.clicks = 0;
  `);
  return async () => expect(await page.evaluate<number>('window.clicks'), name).toBe(TASKS[name].now);
}
