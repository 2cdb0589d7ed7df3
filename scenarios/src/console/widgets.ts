import type { Locator } from 'playwright-core'
import type { Page } from './browser.ts'

// How users work the widgets of the console.

/** Waits until no dialog is open. An open one hides the page behind it from roles, as if it were gone. */
export async function dialogClosed(page: Page): Promise<void> {
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/**
 * Opens the menu of a row and chooses an action.
 * @param name of the row; without one, `place` has one menu
 */
export async function chooseAction(place: Page | Locator, action: string, name?: string): Promise<void> {
  const opener = name === undefined ? /^Actions for / : `Actions for ${name}`
  await place.getByRole('button', { name: opener, exact: true }).click()
  const page = 'page' in place ? place.page() : place
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

/** Types into the text field that has the focus, or gets it: a dialog that has just opened gives it a moment later. */
export async function typeFocused(page: Page, text: string): Promise<void> {
  await page.locator('input:focus, textarea:focus').waitFor()
  await page.keyboard.type(text)
}

/** Signs out by the menu of the account. */
export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Email').waitFor()
}

/** The options of a select. */
export async function optionsOf(place: Page | Locator, label: string): Promise<string[]> {
  await place.getByRole('combobox', { name: label, exact: true }).click()
  const page = 'page' in place ? place.page() : place
  await page.getByRole('option').first().waitFor()
  const texts = await page.getByRole('option').allInnerTexts()
  await page.keyboard.press('Escape')
  await page.getByRole('option').first().waitFor({ state: 'detached' })
  return texts
}

/** Chooses an option of a select. @param option its text, or a part of it */
export async function choose(place: Page | Locator, label: string, option: string | RegExp): Promise<void> {
  await place.getByRole('combobox', { name: label, exact: true }).click()
  const page = 'page' in place ? place.page() : place
  await page.getByRole('option', { name: option, exact: true }).click()
}
