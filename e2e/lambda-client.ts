import { expect, type Page, type WindowPlatform } from './window.ts';

/** The members of a record that these tests use. */
export interface LambdaRecord {
  id: string;
  name: string;
  properties: { code?: string; env?: Record<string, string>; secrets?: unknown[]; parent?: { id: string } };
}

/** Creates, reads and changes lambdas of the demo world through the window's session, like another user. */
export async function lambdaClient(platform: WindowPlatform, page: Page) {
  await platform.open(page);
  const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await platform.send(page, method, path, body);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  // The API document declares these types of lists and records.
  const list = async (path: string) => (await send('GET', path)) as LambdaRecord[];
  const provider = (await list('/meta/root/providers')).find(({ name }) => name === 'default-lambda');
  const [environment] = await list('/meta/demo/environments?expand=true');
  return {
    send,
    async find(name: string): Promise<LambdaRecord> {
      const found = (await list('/meta/demo/lambdas?expand=true')).find((lambda) => lambda.name === name);
      if (!found) throw new Error(`there is no lambda ${name}`);
      return found;
    },
    async make(name: string, code: string, properties: object = {}): Promise<LambdaRecord> {
      const common = { provider: { id: provider?.id }, runtime: 'nodejs', code_type: 'inline', handler: 'run', code };
      const body = { name, properties: { ...common, ...properties } };
      return (await send('POST', `/meta/demo/environments/${environment?.id}/lambdas`, body)) as LambdaRecord; // as above
    },
    /** The time of the next scheduled run. */
    async scheduleOf({ id }: LambdaRecord): Promise<{ nextAt: string }> {
      // The API document declares this member of a periodic lambda.
      return ((await send('GET', `/inspect/lambdas/${id}/workbench`)) as { schedule: { nextAt: string } }).schedule;
    },
    patch: (id: string, ...operations: object[]) => send('PATCH', `/meta/root/resources/${id}`, operations),
    remove: (id: string) => send('DELETE', `/meta/root/resources/${id}`),
  };
}

/** The code editor and the console of the open lambda. */
export const codeOf = (page: Page) => page.getByRole('textbox', { name: /^Code of / });
export const consoleOf = (page: Page) => page.getByRole('region', { name: 'Console' });

/** Replaces the text of an editor. */
export async function write(page: Page, editor: ReturnType<Page['getByRole']>, text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** Opens the workbench of a lambda at a tab. */
export async function openLambda(
  platform: WindowPlatform,
  page: Page,
  { id, name }: LambdaRecord,
  tab = '',
): Promise<void> {
  await platform.open(page, `lambdas/${id}${tab && `?tab=${tab}`}`);
  await expect(page.getByRole('region', { name: 'Workbench' }).getByRole('heading', { name, level: 2 })).toBeVisible();
}

/** Turns on the review before each save, which is off for root by default. */
export async function reviewSaves(platform: WindowPlatform, page: Page): Promise<void> {
  await platform.open(page, 'settings?tab=window');
  const review = page.getByRole('switch', { name: 'Review the code of a lambda before saving' });
  await page.getByText('Review the code of a lambda before saving').click();
  await expect(review).toBeChecked();
}
