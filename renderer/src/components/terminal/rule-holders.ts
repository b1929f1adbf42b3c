/**
 * Runs code that creates `<style>` elements, as xterm does when it opens. The content security policy would leave these
 * elements empty, so the code gets replacements whose text becomes a style sheet that a script adopts, which the policy
 * allows.
 */
export function withoutStyleElements(work: () => void): void {
  const create = document.createElement;
  document.createElement = (name: string, options?: ElementCreationOptions) =>
    name === 'style' ? ruleHolder() : create.call(document, name, options);
  try {
    work();
  } finally {
    document.createElement = create;
  }
}

function ruleHolder(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const holder = document.createElement('span');
  holder.hidden = true;
  Object.defineProperty(holder, 'textContent', { set: (rules: string) => sheet.replaceSync(rules) });
  holder.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adoptedSheet) => adoptedSheet !== sheet);
    HTMLElement.prototype.remove.call(holder);
  };
  return holder;
}
