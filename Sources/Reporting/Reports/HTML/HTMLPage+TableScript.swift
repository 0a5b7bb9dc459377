// The last part of the HTML report's script: the table of steps, and the order of the page.

extension HTMLPage {
  static let tableScript: StaticString = #"""
    const columns = [
      ['outcome', step => step.outcome, 'words'], ['step', step => step.id, 'words'],
      ['start', step => step.start, 'number wide'], ['time', step => step.time, 'number'],
      ...(run.before ? [['before', step => step.took, 'number wide']] : []),
      ['waited', step => step.waited, 'number wide'], ['CPU', step => step.cpu, 'number wide'],
      ['memory', step => step.memory, 'number wide'], ['reason', step => step.reason, 'words'],
    ];

    function writeRow(body, step) {
      const row = add(body, 'tr', { tabindex: 0, 'aria-expanded': 'false' });
      add(row, 'td', {}, add(null, 'span', { class: 'dot ' + mood(step.outcome) }), step.outcome,
        ...(step.was && step.was !== step.outcome ? [add(null, 'div', { class: 'faint' }, 'was ' + step.was)] : []));
      add(row, 'td', {}, step.id, ...(step.name ? [add(null, 'div', { class: 'faint' }, step.name)] : []));
      add(row, 'td', { class: 'number wide' }, time(step.start));
      add(row, 'td', { class: 'number' }, time(step.time));
      if (run.before) add(row, 'td', { class: 'number wide' }, time(step.took), ...changeOf(step.time, step.took));
      for (const ms of [step.waited, step.cpu]) add(row, 'td', { class: 'number wide' }, time(ms));
      add(row, 'td', { class: 'number wide' }, size(step.memory));
      add(row, 'td', {}, mood(step.outcome) === 'good' ? '' : step.reason);
      const toggle = () => {
        const isOpen = row.getAttribute('aria-expanded') === 'true';
        row.setAttribute('aria-expanded', String(!isOpen));
        if (isOpen) row.nextSibling.remove(); else row.after(detailsOf(step));
      };
      row.addEventListener('click', toggle);
      row.addEventListener('keydown', event => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        toggle();
      });
    }

    function detailsOf(step) {
      const cell = add(null, 'td', { colspan: columns.length });
      add(cell, 'div', { class: 'faint' }, step.place + (step.needs.length ? ' · needs ' + step.needs.join(', ') : ''));
      if (step.slurm) add(cell, 'div', { class: 'faint' }, 'Slurm: ' + step.slurm);
      if (step.command) add(cell, 'pre', {}, step.command);
      if (step.commands.length > 1)
        for (const command of step.commands) add(cell, 'div', {}, command.title + ': ' + time(command.time));
      if (step.tail) {
        add(cell, 'div', { class: 'faint' }, 'the last lines of its output' + (step.lines ? ', of ' + step.lines : ''));
        add(cell, 'pre', {}, step.tail);
      }
      return add(null, 'tr', { class: 'details' }, cell);
    }

    function writeTable() {
      add(page, 'h2', {}, 'Steps');
      const tools = add(page, 'div', { class: 'tools' });
      const search = add(tools, 'input', { type: 'search', placeholder: 'filter', 'aria-label': 'filter steps by name' });
      const choice = add(tools, 'select', { 'aria-label': 'filter steps by outcome' }, add(null, 'option', { value: '' }, 'every outcome'));
      for (const outcome of new Set(run.steps.map(step => step.outcome))) add(choice, 'option', { value: outcome }, outcome);
      const table = add(page, 'table'), head = add(add(table, 'thead'), 'tr'), body = add(table, 'tbody');
      let shown = run.steps, order = null, isDown = false;
      const draw = () => {
        const wanted = search.value.toLowerCase();
        const rows = shown.filter(step => (!choice.value || step.outcome === choice.value)
          && (step.id + ' ' + (step.name ?? '')).toLowerCase().includes(wanted));
        const fresh = document.createDocumentFragment();
        for (const step of rows) writeRow(fresh, step);
        body.replaceChildren(fresh);
      };
      const sort = (cell, key) => {
        isDown = order === key ? !isDown : key !== columns[1][1];
        order = key;
        for (const other of head.children) other.removeAttribute('aria-sort');
        cell.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
        const value = step => key(step) ?? -1;
        shown = [...run.steps].sort((a, b) => (value(a) > value(b) ? 1 : value(a) < value(b) ? -1 : 0) * (isDown ? -1 : 1));
        draw();
      };
      for (const [name, key, kind] of columns) {
        const cell = add(head, 'th', { class: kind, scope: 'col' });
        add(cell, 'button', { type: 'button' }, name).addEventListener('click', () => sort(cell, key));
      }
      search.addEventListener('input', draw);
      choice.addEventListener('change', draw);
      draw();
      body.querySelectorAll('tr').forEach((row, index) => { if (mood(shown[index].outcome) === 'bad' && index < 200) row.click(); });
    }

    writeHeader();
    writeComparison();
    writeTimeline();
    writeGraph();
    writeTable();

    """#
}
