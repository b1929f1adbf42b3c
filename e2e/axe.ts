import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import { AXE_IN_PAGE, HIDDEN } from './axe-in-page.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** React Aria's announcer: its texts remain for a while after their source is gone. */
const ANNOUNCER = '[data-live-announcer]';

const STATE = `({
  isDark: matchMedia('(prefers-color-scheme: dark)').matches,
  isStill: matchMedia('(prefers-reduced-motion: reduce)').matches,
  hasAxe: 'runColourRules' in globalThis,
})`;
/** Appearances of texts that axe has checked in both themes. */
const checkedAppearances = new Set<string>();

/**
 * Fails if axe finds a violation on the current page, in either theme. Leaves the page in one of the themes, without motion. Colours
 * are checked once for each appearance of a text, and the theme changes only for new ones: repainting the page, and computing which
 * element covers which, take most of the time.
 *
 * @param state which state of the page it is, for the message
 * @param within a selector of the part to check, if the rest was already checked
 */
export async function expectNoFaults(page: Page, state = page.url(), within = ':root'): Promise<void> {
  // A part that was just opened may still be loading.
  await expect(page.locator(within).first(), state).toBeVisible();
  const { isDark, isStill, hasAxe } = await page.evaluate<{ isDark: boolean; isStill: boolean; hasAxe: boolean }>(
    STATE,
  );
  // Even a call without a change recalculates all styles.
  if (!isStill) await page.emulateMedia({ reducedMotion: 'reduce' });
  if (!hasAxe) await page.evaluate(`${await readFile(AXE, 'utf8')};${AXE_IN_PAGE}`);
  const where = `${JSON.stringify(within)}, '${ANNOUNCER}'`;
  const isNew = (appearance: string) =>
    !checkedAppearances.has(appearance) &&
    !(appearance.startsWith(HIDDEN) && checkedAppearances.has(appearance.slice(HIDDEN.length)));
  const fresh = (await page.evaluate<string[]>(`listAppearances(${where})`)).filter(isNew);
  const [colorScheme, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  expect(await page.evaluate(`runAxe(${where}, ${fresh.length > 0})`), `${state}, ${colorScheme}`).toEqual([]);
  if (fresh.length === 0) return;
  await page.emulateMedia({ colorScheme: other });
  const colourRules = `runColourRules(${JSON.stringify(fresh)})`;
  const answer = await page.evaluate<{ faults: string[]; asked: string[] }>(colourRules);
  expect(answer.faults, `${state}, ${other}`).toEqual([]);
  for (const appearance of answer.asked) checkedAppearances.add(appearance);
}

/** Resolves when the page has not changed for a moment. */
const STILL = `new Promise((resolve) => {
  const rest = () => (observer.disconnect(), resolve());
  const observer = new MutationObserver(() => (clearTimeout(timer), (timer = setTimeout(rest, 300))));
  let timer = setTimeout(rest, 300);
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})`;

/** Resolves when the page no longer changes. The network is never idle: events are streamed to the page. */
export async function waitUntilStill(page: Page): Promise<void> {
  await page.evaluate(STILL);
}
