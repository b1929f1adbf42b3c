/** A box with a list would open it as soon as one is in it. */
const FIELDS =
  'input:not([type=checkbox], [type=radio], [type=file], [type=hidden], [role=combobox], :disabled), textarea:not(:disabled)';

/** The field that one fills in first: the first empty one, else the first. */
export function firstFieldIn(body: HTMLElement | null): HTMLElement | undefined {
  const fields = [...(body?.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(FIELDS) ?? [])];
  return fields.find(({ value, readOnly }) => value === '' && !readOnly) ?? fields[0];
}

/** The button that does what the dialog is for. None where it only closes, or destroys something: that is pressed on purpose. */
export function actionIn(foot: HTMLElement | null): HTMLButtonElement | undefined {
  return foot?.querySelector<HTMLButtonElement>('button[data-look=primary]:not(:disabled)') ?? undefined;
}

/** Returns true for an element in which Enter has no other meaning. In a nested form, Enter submits that form. */
export function isFieldOfOneLine(target: EventTarget): target is HTMLInputElement {
  return (
    target instanceof HTMLInputElement && target.form === null && target.type !== 'file' && target.role !== 'combobox'
  );
}
