/** What `/admin` has beside what all pages look like. */
export const adminStyle = `main { max-width: 78rem; padding-top: 1rem }
.tabs { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem;
  border-bottom: 1px solid var(--line); margin-bottom: 1.75rem }
.tabs nav { display: flex; flex-wrap: wrap; gap: 0 1.4rem }
.tabs nav a { padding: .7rem 0; color: var(--soft); text-decoration: none; font-weight: 550 }
.tabs nav a[aria-current=page] { color: var(--ink); box-shadow: 0 2px var(--accent) }
.who { display: flex; align-items: center; gap: .75rem; margin: .4rem 0; font-size: .92rem }
.who button { padding: .3rem .7rem }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: .6rem .9rem; margin-bottom: 1rem }
.bar h1 { margin: 0 } .bar > .button.primary { margin-left: auto }
h1:focus, h2:focus, .alert:focus { outline: none }
.back { margin-bottom: .4rem } .back a { text-decoration: none }
.facts { font-size: .88rem }
form.search { display: flex; flex-wrap: wrap; align-items: end; gap: .75rem 1rem; margin-bottom: 1.25rem }
.grow { flex: 1 1 14rem } .search details { flex: 1 0 100%; order: 9 }
.search > button { align-self: end }
summary { cursor: pointer; color: var(--soft); padding: .2rem 0 }
.search .fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); gap: .75rem 1rem; padding: .5rem 0 }
label { font-weight: 550; font-size: .92rem } label .soft { font-weight: 400; font-size: .85rem }
input, select, textarea { display: block; width: 100%; font: inherit; font-weight: 400; color: var(--ink);
  background: var(--raised); border: 1px solid light-dark(#858da1, #6a7288); border-radius: 8px; padding: .5rem .7rem; margin-top: .25rem }
.search input, .search select { min-height: 2.6rem }
textarea { resize: vertical; line-height: 1.5; field-sizing: content; max-height: 70vh } .long { min-height: 10rem } textarea.json { min-height: 5.5rem; font-family: var(--mono); font-size: .9rem }
[aria-invalid=true] { border-color: var(--bad); box-shadow: 0 0 0 1px var(--bad) }
form.record { max-width: 46rem } .field { margin-bottom: 1.15rem } .field .bar { margin: 0; gap: .25rem .9rem }
.field .bar select, .field .bar input { width: auto }
.hint, .error { font-size: .88rem; margin: .3rem 0 0 } .hint { color: var(--soft) } .error { color: var(--bad); font-weight: 550 }
.alert { position: sticky; top: .5rem; z-index: 1; max-width: 46rem; background: var(--bad-tint); color: var(--bad); border-radius: 8px; padding: .7rem 1rem; font-weight: 550 }
.empty { padding: 3.5rem 1rem; text-align: center; color: var(--soft); border: 1px dashed var(--line); border-radius: 12px }
.bad { color: var(--bad) } .bad.worse { background: var(--bad); color: var(--ground); border-color: var(--bad) } .record .bad { margin-left: auto }
table { background: var(--raised); border: 1px solid var(--line); border-radius: 12px; border-collapse: separate; border-spacing: 0 }
tr:last-child > * { border-bottom: 0 } tbody tr:hover > * { background: var(--tint) }
tbody th { color: var(--ink); font-weight: 600 } tbody th a { text-decoration: none } td time { color: var(--soft); white-space: nowrap }
.sort { color: inherit; text-decoration: none; white-space: nowrap } .sort:hover { color: var(--accent) }
[aria-sort] .sort { color: var(--ink) }
.pages { display: flex; align-items: center; justify-content: center; gap: 1rem; margin-top: 1.25rem }
.both { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.25rem; border-left: 3px solid var(--late); padding-left: .9rem; margin-bottom: 1.15rem }
.both .field { margin: 0 0 .5rem } .both:not([data-open]) { border-color: var(--line) } .both pre { margin: .25rem 0 .5rem; padding: .5rem .7rem; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 18rem; overflow-y: auto }
.both b { font-size: .92rem } .both pre, .both textarea { font-size: .95rem } .both button { padding: .3rem .7rem }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0 }
fieldset:disabled :is(input, select, textarea) { background: none; border-color: transparent; padding-left: 0; color: var(--ink); opacity: 1;
  appearance: none; resize: none; min-height: 0 } fieldset:disabled label .soft { display: none } .theirs { margin: -.85rem 0 1.15rem; color: var(--late) }
dialog { border: 1px solid var(--line); border-radius: 14px; padding: 1.5rem; max-width: min(36rem, calc(100vw - 2rem));
  background: var(--raised); color: var(--ink); box-shadow: 0 20px 60px #0006 }
dialog h2 { margin-top: 0 } dialog .bar { margin: 1.25rem 0 0 } dialog::backdrop { background: #0008 }
.sign-in { max-width: 30rem; margin: 3rem auto 0 }
.notice { position: fixed; left: 50%; top: 4.5rem; z-index: 2; translate: -50% 0; margin: 0; padding: .6rem 1.2rem; border-radius: 99px;
  background: var(--ink); color: var(--ground); font-weight: 550; opacity: 0; pointer-events: none } .notice.shown { opacity: 1 }
thead { white-space: nowrap } @media (max-width: 44rem) { :is(th, td):nth-child(n + 3) { display: none } .both { grid-template-columns: 1fr } .both > .field { margin-top: .75rem }
  th, td { padding: .5rem .55rem } }
`;
