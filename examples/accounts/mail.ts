// Mail: to the console, or to an SMTP server.

import { createTransport } from 'nodemailer';

export type SendMail = (to: string, subject: string, text: string) => Promise<void>;

/**
 * Returns a function that sends mail.
 *
 * @param smtp such as `smtps://user:password@mail.example.com`; without it, mails are printed
 */
export function openMail(from: string, smtp?: string): SendMail {
  if (smtp === undefined) {
    return async (to, subject, text) => {
      console.log(`\nMail to ${to}: ${subject}\n\n${text}\n`);
    };
  }
  const transport = createTransport(smtp);
  return async (to, subject, text) => {
    // As an object, so that nothing in an address is taken for another address.
    await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
  };
}
