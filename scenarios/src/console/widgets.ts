import type { Page } from './browser.ts'

// How users work the widgets of the console.

/** Waits until no dialog is open. An open one hides the page behind it from roles, as if it were gone. */
export async function dialogClosed(page: Page): Promise<void> {
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
