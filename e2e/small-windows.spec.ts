import type { Locator } from '@playwright/test';
import { expectNoFaults, waitUntilStill } from './axe.ts';
import { SCREENS } from './screens.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

/** Minimal height of the open tab. */
const MIN_HEIGHT_PX = 240;

/** After two frames, everything that depends on the size is rendered. */
const NEXT_FRAMES = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

const SIZES = [
  { what: '1024x700', width: 1024, height: 700, isPresenting: false },
  { what: '1440x900 at 200 %', width: 720, height: 450, isPresenting: false },
  { what: 'presenter mode at 720p', width: 1280, height: 720, isPresenting: true },
];

/** The visible height of the open tab's panel, and the number of scroll areas around it. */
const measure = (page: Page) =>
  page.getByRole('tabpanel').evaluate((panel) => {
    const { getComputedStyle } = panel.ownerDocument.defaultView;
    const pane = panel.closest('section');
    pane.scrollBy(0, panel.getBoundingClientRect().top - pane.getBoundingClientRect().top);
    let { top, bottom } = panel.getBoundingClientRect();
    let scrollAreas = 0;
    for (let at = panel; at; at = at.parentElement) {
      if (getComputedStyle(at).overflowY === 'visible') continue;
      if (at.scrollHeight > at.clientHeight + 1) scrollAreas += 1;
      const box = at.getBoundingClientRect();
      top = Math.max(top, box.top);
      bottom = Math.min(bottom, box.bottom);
    }
    return { seenPx: Math.round(bottom - top), scrollAreas };
  });

/** Buttons, links and fields of the screen that cannot be scrolled into view. */
const clippedControls = (page: Page) =>
  page.getByRole('main').evaluate((main) => {
    const { getComputedStyle } = main.ownerDocument.defaultView;
    const isScrolled = (overflow: string) => overflow === 'auto' || overflow === 'scroll';
    const found: string[] = [];
    for (const control of main.querySelectorAll('button, a[href], input, [role=tab]')) {
      const controlBox = control.getBoundingClientRect();
      // The field of a switch has a size of one pixel.
      if (control.parentElement && control.parentElement.getBoundingClientRect().width < 2) continue;
      if (
        controlBox.width < 2 ||
        getComputedStyle(control).visibility === 'hidden' ||
        control.closest('[aria-hidden=true]')
      )
        continue;
      let [isRightReached, isBottomReached] = [false, false];
      for (let at = control.parentElement; at; at = at.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(at);
        isRightReached ||= isScrolled(overflowX);
        isBottomReached ||= isScrolled(overflowY);
        const box = at.getBoundingClientRect();
        const isCut =
          (!isRightReached && overflowX !== 'visible' && controlBox.left >= box.right) ||
          (!isBottomReached && overflowY !== 'visible' && controlBox.top >= box.bottom);
        if (isCut) {
          found.push(`${control.tagName} ${control.getAttribute('aria-label') ?? control.textContent}`);
          break;
        }
      }
    }
    return found;
  });

async function failOnce(platform: WindowPlatform, page: Page): Promise<void> {
  await platform.open(page);
  const found = await platform.send(page, 'GET', '/meta/demo/lambdas?name=contact-form');
  const [{ id }] = found.body as [{ id: string }]; // as the API document says
  const patch = [{ op: 'remove', path: '/properties/env/CRM_OID' }];
  await platform.call('/website/lead', { payload: { firstName: 'Ada' } });
  await platform.send(page, 'PATCH', `/meta/demo/lambdas/${id}`, patch);
  await platform.call('/website/lead', { payload: { firstName: 'Grace' } });
  await platform.send(page, 'POST', '/inspect/pipelines/demo', {});
}

test('the open tab of every detail has space and one scroll area at any size', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await failOnce(platform, page);
  /** Calls a function at each window size. */
  const atEachSize = async (look: (sizeLabel: string) => Promise<void>) => {
    for (const { what: sizeLabel, width, height, isPresenting } of SIZES) {
      await page.setViewportSize({ width, height });
      if (isPresenting) await page.keyboard.press('Shift+P');
      await page.evaluate(NEXT_FRAMES);
      await look(sizeLabel);
      if (isPresenting) await page.keyboard.press('Shift+P');
    }
  };
  const look = async (path: string, row: Locator | undefined, tabs: readonly string[]) => {
    await platform.open(page, path);
    await row?.first().click();
    await atEachSize(async (sizeLabel) => {
      expect.soft(await clippedControls(page), `${path} at ${sizeLabel}: out of reach`).toEqual([]);
    });
    for (const tab of tabs) {
      await page.getByRole('tab', { name: tab }).first().click();
      await atEachSize(async (sizeLabel) => {
        const { seenPx, scrollAreas } = await measure(page);
        expect.soft(seenPx, `${path} at ${sizeLabel}: ${tab}`).toBeGreaterThanOrEqual(MIN_HEIGHT_PX);
        // A comparison is shown in the detail.
        const most = tab === 'Compare' ? 2 : 1;
        expect.soft(scrollAreas, `${path} at ${sizeLabel}: scroll areas of ${tab}`).toBeLessThanOrEqual(most);
      });
    }
    // The next click on a row needs the full width of the list.
    await page.setViewportSize({ width: 1280, height: 720 });
  };
  const inGrid = (name: string) => page.getByRole('grid', { name }).getByRole('row').nth(1);
  await look('invocations', page.getByRole('row', { name: /contact-form/ }), [
    'Event',
    'Logs',
    'Outbound',
    'Result',
    'Compare',
    'Raw',
  ]);
  await look('gateway', inGrid('Requests'), ['Request', 'Response', 'Raw']);
  await look('resources', page.getByRole('treeitem', { name: /^contact-form/ }), ['Form', 'JSON', 'History']);
  await look('lambdas', inGrid('Lambdas'), ['Code', 'Environment', 'Endpoints']);
  await look('leads', inGrid('Leads'), []);
  await look('pipelines', inGrid('Runs'), ['Log', 'Variables']);
  await look('history', inGrid('Commits'), ['Change', 'World at this point', 'Since then']);
  for (const screen of SCREENS) await look(screen, undefined, []);
});

test('no screen is wider than a phone of 390 pixels', async ({ page, platform }) => {
  await failOnce(platform, page);
  await page.setViewportSize({ width: 390, height: 844 });
  for (const screen of SCREENS) {
    await platform.open(page, screen);
    await waitUntilStill(page);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect.soft(width, screen).toBe(390);
    await expect.soft(page.getByRole('button', { name: 'Signed in as root' }), screen).toBeInViewport({ ratio: 1 });
  }
});

/** Lists, tables and forms of the screen or of a dialog that scroll sideways; tabs do. */
const scrolledSideways = (page: Page, role: 'main' | 'dialog' = 'main') =>
  page.getByRole(role).evaluate((root) =>
    [...root.querySelectorAll('*')]
      .filter((area) => {
        const { overflowX } = root.ownerDocument.defaultView.getComputedStyle(area);
        const canScroll = area.clientWidth > 0 && (overflowX === 'auto' || overflowX === 'scroll');
        return canScroll && area.scrollWidth > area.clientWidth + 1 && area.role !== 'tablist';
      })
      .map((area) => `${area.getAttribute('aria-label') ?? area.className} ${area.scrollWidth}/${area.clientWidth}`),
  );

test('lists, details, settings and a dialog of variables fit the width of a phone', async ({ page, platform }) => {
  await failOnce(platform, page);
  const rules = [{ host: 'api.long-name.partners.example.org', action: 'fail', error: 'ECONNREFUSED', enabled: true }];
  await platform.send(page, 'PUT', '/inspect/outbound', { rules });
  const [run] = (await platform.send(page, 'GET', '/inspect/pipelines')).body as [{ id: string }]; // as the API document says
  const [lambda] = (await platform.send(page, 'GET', '/meta/demo/lambdas?name=contact-form')).body as [{ id: string }];
  await platform.send(page, 'POST', '/meta/demo/workspaces', { name: 'x'.repeat(200) });
  const { newest } = (await platform.send(page, 'GET', '/inspect/history?limit=1')).body as { newest: number }; // likewise
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of [
    ...['mails', 'leads?tab=rules', `pipelines?sel=${run.id}`, `resources/${lambda.id}`],
    ...[`history?sel=${newest}`, 'settings?tab=platform'],
  ]) {
    await platform.open(page, path);
    await waitUntilStill(page);
    expect.soft(await scrolledSideways(page), path).toEqual([]);
  }
  await platform.open(page, `lambdas/${lambda.id}`);
  const eventBox = await page.getByRole('region', { name: 'Test event' }).boundingBox();
  expect(eventBox?.width).toBeGreaterThan(300);
  await platform.open(page, 'pipelines');
  await page.getByRole('button', { name: /variables of fern-moss\/shop$/ }).click();
  await expect(page.getByRole('dialog').getByRole('row').nth(1)).toBeVisible();
  expect(await scrolledSideways(page, 'dialog')).toEqual([]);
  await page.keyboard.press('Escape');
  await platform.open(page, `resources/${lambda.id}?tab=history`);
  await expect(page.getByRole('list', { name: 'Commits' })).toContainText('removed CRM_OID');
  await expect(page.getByText('removed CRM_OID').first()).toBeInViewport({ ratio: 1 });
  expect(await scrolledSideways(page)).toEqual([]);
});

/** The second size is that of a window of 1280 x 800 at 200 %. */
const SMALL = [
  { width: 900, height: 600 },
  { width: 640, height: 400 },
];

test('every button can be reached in a window of 900 x 600 and of 640 x 400', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.call('/website/orders/1001');
  await platform.open(page);
  for (const screen of [...SCREENS, 'settings?tab=platform', 'settings?tab=access', 'help/guides%2Fcontainers']) {
    await platform.open(page, screen);
    for (const size of SMALL) {
      await page.setViewportSize(size);
      await waitUntilStill(page);
      expect(await unreachableControls(page), `${screen} at ${size.width} x ${size.height}`).toEqual([]);
    }
  }
  await page.keyboard.press('ControlOrMeta+k');
  for (const size of SMALL) {
    await page.setViewportSize(size);
    await expect(page.getByRole('dialog', { name: 'Commands and resources' })).toBeInViewport();
    await expectNoFaults(page, `the palette at ${size.width} x ${size.height}`);
  }
});

/** Controls that cannot be scrolled into view: outside of the window, or clipped by an element that does not scroll. */
function unreachableControls(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const lost = [];
    for (const one of document.querySelectorAll('a[href], button, input, [role=tab], [role=slider]')) {
      if (one.closest('[inert], [aria-hidden=true], .sr-only') || !one.checkVisibility()) continue;
      if (one.type === 'hidden' || one.matches('[href="#main"]') || getComputedStyle(one).clip !== 'auto') continue;
      one.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      const { left, right, top, bottom, width } = one.getBoundingClientRect();
      if (width <= 1) continue;
      const isInside = left >= -1 && top >= -1 && right <= innerWidth + 1 && bottom <= innerHeight + 1;
      if (!isInside) lost.push(one.outerHTML.slice(0, 120) + ' ' + [left, top, right, bottom].map(Math.round));
    }
    return lost;
  })()`);
}
