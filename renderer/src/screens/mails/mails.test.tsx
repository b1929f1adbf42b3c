import { screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { beforeAll, expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';

const platform = sharedPlatform();
const ids = new Map<string, string>();

async function sendMail(mail: SendMailOptions & { subject: string }): Promise<void> {
  const { hostname, port } = new URL(String(Reflect.get(platform.emulator, 'smtpUrl')));
  const transport = createTransport({ host: hostname, port: Number(port), tls: { rejectUnauthorized: false } });
  const { response } = await transport.sendMail({ from: 'Shop <shop@example.com>', to: 'ada@example.com', ...mail });
  ids.set(mail.subject, response.split(' ').at(-1) ?? '');
}

beforeAll(async () => {
  const attachments = [{ filename: 'bill.txt', content: 'x' }];
  await sendMail({ subject: 'Your order', text: 'It costs 5 EUR', attachments });
  await sendMail({ subject: 'Reset your password', text: 'Click here', html: '<b>Click</b>' });
});

async function openDetail(subject: string) {
  await renderWindow(platform, `mails?sel=${ids.get(subject)}`);
  await screen.findByRole('heading', { name: subject });
  return within(screen.getByRole('region', { name: 'Mail' }));
}

it('counts the mails in which a search finds something', async () => {
  await renderWindow(platform, 'mails?q=5+eur');
  await screen.findByText('1', { selector: '[role=status]' });
});

it('shows addresses, text, attachments and source of a mail', async () => {
  const detail = await openDetail('Your order');
  detail.getByText('Shop <shop@example.com>');
  await detail.findByText(/It costs 5 EUR/, { selector: 'pre' });
  detail.getByRole('button', { name: /bill\.txt/ });
  expect(detail.queryByRole('tab', { name: 'HTML' })).toBeNull();
  await userEvent.click(detail.getByRole('tab', { name: 'Source' }));
  await detail.findByText(/^From: Shop <shop@example.com>/, { selector: 'pre' });
});

it('shows HTML in a frame of another origin', async () => {
  const detail = await openDetail('Reset your password');
  const frame = await detail.findByTitle('HTML of the mail');
  expect(frame.getAttribute('sandbox')).toBe('allow-scripts');
  expect(frame.getAttribute('src')).toBe('/ui/html-frame');
});
