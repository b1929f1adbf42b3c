import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** React Aria speaks through it, and leaves words there for a while whose source may have gone since. */
const ANNOUNCER = '[data-live-announcer]';

/** What axe-core adds to a page. */
interface Axe {
  run(context: object, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** Nothing is worked out about what is well, and no selector for what is not: that is a third of its time. */
const ONLY_FAULTS = { resultTypes: ['violations'], selectors: false };
/** Both themes are the same page in other colours: all that axe knows is asked in one, and in the other what colours can spoil. */
const LOOKS = {
  dark: { ...ONLY_FAULTS, runOnly: ['color-contrast', 'link-in-text-block'] },
  light: ONLY_FAULTS,
} as const;
const IS_DARK = "matchMedia('(prefers-color-scheme: dark)').matches";

/**
 * Fails if axe finds anything on the page as it is now, in either theme; leaves it in one of them, and without motion. It begins
 * with the theme that is on: to paint all anew is a fifth of its time.
 *
 * @param state which state of the page it is, for the message
 * @param within a selector of what it looks at, where all else has been looked at before
 */
export async function expectNoFaults(page: Page, state = page.url(), within = ':root'): Promise<void> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(await readFile(AXE, 'utf8'));
  const themes = (await page.evaluate<boolean>(IS_DARK)) ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await page.evaluate(
      async ([include, announcer, options]) => {
        const { axe } = globalThis as unknown as { axe: Axe }; // axe puts itself there
        const { violations } = await axe.run({ include: [include], exclude: [announcer] }, options);
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
      },
      [within, ANNOUNCER, LOOKS[colorScheme]] as const,
    );
    expect(found, `${state}, ${colorScheme}`).toEqual([]);
  }
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
