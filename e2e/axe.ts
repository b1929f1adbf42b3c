import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** React Aria speaks through it, and leaves words there for a while whose source may have gone since. */
const ANNOUNCER = '[data-live-announcer]';

/** What axe-core adds to a page. */
interface Axe {
  run(context: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/**
 * Fails if axe finds anything on the page as it is now.
 *
 * @param state which state of the page it is, for the message
 */
export async function expectNoFaults(page: Page, state = page.url()): Promise<void> {
  await page.evaluate(await readFile(AXE, 'utf8'));
  const found = await page.evaluate(async (announcer) => {
    const { axe } = globalThis as unknown as { axe: Axe }; // axe puts itself there
    const { violations } = await axe.run({ exclude: [announcer] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  }, ANNOUNCER);
  expect(found, state).toEqual([]);
}

/** Comes to rest: nothing of the page has changed for a moment. */
const STILL = `new Promise((resolve) => {
  const rest = () => (observer.disconnect(), resolve());
  const observer = new MutationObserver(() => (clearTimeout(timer), (timer = setTimeout(rest, 300))));
  let timer = setTimeout(rest, 300);
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})`;

/** Resolves once the page has come to rest. The network never does: what happens is streamed to it. */
export async function untilStill(page: Page): Promise<void> {
  await page.evaluate(STILL);
}
