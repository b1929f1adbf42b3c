import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import { AXE_IN_PAGE, HIDDEN } from './axe-in-page.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** React Aria speaks through it, and leaves words there for a while whose source may have gone since. */
const ANNOUNCER = '[data-live-announcer]';

const STATE = `({
  isDark: matchMedia('(prefers-color-scheme: dark)').matches,
  isStill: matchMedia('(prefers-reduced-motion: reduce)').matches,
  hasAxe: 'askColours' in globalThis,
})`;
/** Appearances of texts that axe has been asked about in both themes. */
const asked = new Set<string>();

/**
 * Fails if axe finds anything on the page as it is now, in either theme; leaves it in one of them, and without motion. Axe is asked
 * about colours once for each appearance of a text, and there is another theme only for new ones: to paint all in other colours
 * and to work out what lies upon what takes longer than all else.
 *
 * @param state which state of the page it is, for the message
 * @param within a selector of what it looks at, where all else has been looked at before
 */
export async function expectNoFaults(page: Page, state = page.url(), within = ':root'): Promise<void> {
  // What has just been opened may be loading.
  await expect(page.locator(within).first(), state).toBeVisible();
  const { isDark, isStill, hasAxe } = await page.evaluate<{ isDark: boolean; isStill: boolean; hasAxe: boolean }>(
    STATE,
  );
  // Even what changes nothing is a new look at every style.
  if (!isStill) await page.emulateMedia({ reducedMotion: 'reduce' });
  if (!hasAxe) await page.evaluate(`${await readFile(AXE, 'utf8')};${AXE_IN_PAGE}`);
  const where = `${JSON.stringify(within)}, '${ANNOUNCER}'`;
  const isNew = (one: string) => !asked.has(one) && !(one.startsWith(HIDDEN) && asked.has(one.slice(HIDDEN.length)));
  const fresh = (await page.evaluate<string[]>(`look(${where})`)).filter(isNew);
  const [colorScheme, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  expect(await page.evaluate(`ask(${where}, ${fresh.length > 0})`), `${state}, ${colorScheme}`).toEqual([]);
  if (fresh.length === 0) return;
  await page.emulateMedia({ colorScheme: other });
  const askColours = `askColours(${JSON.stringify(fresh)})`;
  const answer = await page.evaluate<{ faults: string[]; asked: string[] }>(askColours);
  expect(answer.faults, `${state}, ${other}`).toEqual([]);
  for (const one of answer.asked) asked.add(one);
}

/** Comes to rest: nothing of the page has changed for a moment. */
const STILL = `new Promise((resolve) => {
  const rest = () => (observer.disconnect(), resolve());
  const observer = new MutationObserver(() => (clearTimeout(timer), (timer = setTimeout(rest, 300))));
  let timer = setTimeout(rest, 300);
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})`;

/** Resolves once the page has come to rest. The network never does: what happens is streamed to it. */
export async function waitUntilStill(page: Page): Promise<void> {
  await page.evaluate(STILL);
}
