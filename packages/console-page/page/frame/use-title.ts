import { useEffect } from 'react'

/** Names the screen in the browser's tabs and history. */
export function useTitle(...parts: string[]): void {
  const title = [...parts, 'Console'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}
