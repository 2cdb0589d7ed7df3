import { useEffect } from 'react'

/** Sets the title shown in browser tabs and history. */
export function useTitle(...parts: string[]): void {
  const title = [...parts, 'Console'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}
