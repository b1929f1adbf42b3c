import { expect, type Page, type WindowPlatform } from './window.ts';

/** A resource as the API returns it. */
export interface Resource {
  id: string;
  name: string;
  description?: string;
  properties: { [name: string]: unknown };
}

/** The detail pane of the resources screen. */
export const paneOf = (page: Page) => page.getByRole('region', { name: 'Resource', exact: true });
export const treeOf = (page: Page) => page.getByRole('tree', { name: 'Resources' });
/** A row of the tree; its name ends with the kind of the resource. */
export const lineOf = (page: Page, name: string) => treeOf(page).getByRole('treeitem', { name, exact: true });
export const tabOf = (page: Page, name: string | RegExp) => paneOf(page).getByRole('tab', { name });

/** A client with the session of the window. Throws when a request is rejected. */
export function windowClient(platform: WindowPlatform, page: Page) {
  const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await platform.send(page, method, path, body);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    send,
    /** A resource of the demo world by the plural name of its type and its name. */
    async find(collection: string, name: string): Promise<Resource> {
      const list = (await send('GET', `/meta/demo/${collection}?expand=true`)) as Resource[]; // as the API document says
      const found = list.find((resource) => resource.name === name);
      if (!found) throw new Error(`the demo world has no ${name} among its ${collection}`);
      return found;
    },
    async read(id: string): Promise<Resource> {
      return (await send('GET', `/meta/root/resources/${id}`)) as Resource; // as the API document says
    },
  };
}

/** Selects an option of a list that a button opens. */
export async function pick(page: Page, field: string | RegExp, option: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: field }).click();
  await page.getByRole('option', { name: option }).first().click();
}

/** Selects a resource by a part of its name. */
export async function pickResource(page: Page, field: string, name: string): Promise<void> {
  const box = page.getByRole('combobox', { name: field, exact: true });
  await box.fill(name);
  const offered = page.getByRole('listbox', { name: 'Suggestions' });
  // Until then, options may move.
  await expect(offered).not.toHaveAttribute('data-earlier');
  await offered
    .getByRole('option', { name: new RegExp(`^${name}`) })
    .first()
    .click();
  await expect(offered).toBeHidden();
  await expect(box).toHaveValue(name);
}

/** Sets the text of the JSON editor. */
export async function writeJson(page: Page, text: string): Promise<void> {
  const editor = paneOf(page).getByRole('textbox', { name: /as JSON$/ });
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** Replaces the text of the JSON editor by pasting, for texts that are too long to type. */
export async function pasteJson(page: Page, text: string): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await paneOf(page)
    .getByRole('textbox', { name: /as JSON$/ })
    .click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('ControlOrMeta+v');
}
