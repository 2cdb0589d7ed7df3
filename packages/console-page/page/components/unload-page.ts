let isUnloading = false

/** Leaves the page at once, without a question: its user is no longer signed in. @param load loads the next page */
export function unloadPage(load: () => void): void {
  isUnloading = true
  // Going back can show the same page again.
  addEventListener('pageshow', () => (isUnloading = false), { once: true })
  load()
}

export const isPageUnloading = () => isUnloading
