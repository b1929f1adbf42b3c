import type { ServerState } from './server-supervisor.ts';

/** Address of the Retry link: it cannot exist, and the guards handle it. So the page needs no script. */
export const RETRY_URL = 'http://terrarium.invalid/retry';

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; background: Canvas; color: CanvasText; }
main { width: min(720px, 88vw); }
h1 { font-size: 22px; font-weight: 600; }
pre { max-height: 40vh; overflow: auto; padding: 12px; border: 1px solid GrayText; border-radius: 8px; font-size: 12px; white-space: pre-wrap; }
a { display: inline-block; padding: 8px 20px; border-radius: 8px; background: #1f7a52; color: #fff; text-decoration: none; }
a:focus-visible { outline: 2px solid Highlight; outline-offset: 2px; }`;

interface Message {
  title: string;
  text: string;
  output?: readonly string[];
  canRetry?: boolean;
}

/** The message that the window shows while the platform is not running; undefined while it is. */
export function messageOf(state: ServerState): Message | undefined {
  switch (state.phase) {
    case 'running':
      return undefined;
    case 'starting':
      return { title: 'Terrarium is starting …', text: 'The window opens when the platform is ready.' };
    case 'restarting': {
      const text = `The platform has ended: ${state.reason}. It restarts in ${state.delayMs / 1000} s.`;
      return { title: 'Terrarium is restarting', text, output: state.output };
    }
    case 'ended': {
      const text = `The platform is not running: ${state.reason}. For details, see the last lines of its output.`;
      return { title: 'Terrarium has stopped', text, output: state.output, canRetry: true };
    }
  }
}

/** The message as a data URL. */
export function messagePage({ title, text, output = [], canRetry = false }: Message): string {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${STYLE}</style></head><body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p>
${output.length > 0 ? `<pre tabindex="0">${escaped(output.join('\n'))}</pre>` : ''}
${canRetry ? `<p><a href="${RETRY_URL}">Retry</a></p>` : ''}</main></body></html>`;
  return `data:text/html;charset=utf-8,${encodeURIComponent(html)}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
