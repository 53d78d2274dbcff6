"""The User-Mode-Linux kernel: built once from the distribution's source package, kept in the cache.

Takes a Debian ``linux-source`` package (by apt, or a .deb given by path), the configuration beside
this file and the edits below; gives a program that is a kernel, and its modules. Never installs a
package, never needs root, and never builds unasked: :func:`build` takes minutes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from attrs import asdict, frozen

from airtoll.errors import EnvironmentProblem
from airtoll.testbeds.guest.kernel import cache_folder

META_PACKAGE: Final = "linux-source"
#: Unpacked and compiled sources, before they are thrown away.
_ROOM_BYTES: Final = 3_500_000_000
#: Tool or header -> Debian package. Header: what the kernel's own build tools include.
_TOOLS: Final = {
    "dpkg-deb": "dpkg",
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "depmod": "kmod",
}
_HEADERS: Final = {"openssl/opensslv.h": "libssl-dev", "stdio.h": "libc6-dev"}


@frozen
class Edit:
    """A change to one source file. ``pattern`` and ``replacement`` as in :func:`re.subn`.

    It has to match, unless ``unless`` says that this kernel no longer has what it changes.
    ``only``: a file and a pattern. The edit is made where the file has the pattern.
    """

    file: str
    pattern: str
    replacement: str
    unless: str | None = None
    only: tuple[str, str] | None = None


#: The host's environment variable with the seed of a guest; without it the guest's randomness is
#: the host's.
SEED_VARIABLE: Final = "AIRTOLL_SEED"

#: Octets of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
_SEEDED: Final = """static unsigned long long state;
	static int seeded = -1;
	unsigned char *out = buf;
	size_t done;

	if (seeded < 0) {
		const char *seed = getenv("AIRTOLL_SEED");

		seeded = seed != NULL;
		if (seed)
			state = strtoull(seed, NULL, 10);
	}
	if (!seeded)
		return getrandom(buf, len, flags);
	for (done = 0; done < len; done++) {
		unsigned long long mixed = state += 0x9e3779b97f4a7c15ULL;

		mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
		mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
		out[done] = mixed ^ (mixed >> 31);
	}
	return len;"""

#: RDTSC (0F 31) and RDTSCP (0F 01 F9) of a program that may not read the host's counter.
_TIME_STAMP: Final = """static bool airtoll_time_stamp(struct uml_pt_regs *regs)
{
	unsigned char code[3];
	int length = 2;
	u64 now;

	if (copy_from_user(code, (void __user *) UPT_IP(regs), sizeof(code)))
		return false;
	if (code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9)
		length = 3;
	else if (code[0] != 0x0f || code[1] != 0x31)
		return false;
	now = ktime_get_ns();
	regs->gp[HOST_AX] = (u32) now;
	regs->gp[HOST_DX] = now >> 32;
	if (length == 3)
		regs->gp[HOST_CX] = 0;
	UPT_IP(regs) += length;
	return true;
}

"""

#: Moves the floating-point state of tasks between the kernel and the host's processes on demand.
_FLOATING_POINT: Final = """static struct uml_pt_regs *airtoll_loaded;
static int airtoll_loaded_pid;

void airtoll_fetch_fp(void)
{
	if (airtoll_loaded &&
			get_fp_registers(airtoll_loaded_pid, airtoll_loaded->fp)) {
		printk(UM_KERN_ERR "userspace - get_fp_registers failed\\\\n");
		fatal_sigsegv();
	}
	airtoll_loaded = NULL;
}

void airtoll_forget_fp(struct uml_pt_regs *regs)
{
	if (airtoll_loaded == regs)
		airtoll_loaded = NULL;
}

static int airtoll_load_fp(int pid, struct uml_pt_regs *regs)
{
	if (airtoll_loaded == regs && airtoll_loaded_pid == pid)
		return 0;
	airtoll_fetch_fp();
	airtoll_loaded = regs;
	airtoll_loaded_pid = pid;
	return put_fp_registers(pid, regs->fp);
}

"""
_HOST_PROCESS: Final = "arch/um/os-Linux/skas/process.c"
_CONTEXT: Final = "arch/um/kernel/skas/mmu.c"
_SIGNAL: Final = "arch/x86/um/signal.c"
_TASK: Final = "arch/um/kernel/process.c"
#: Later kernels have another way from one memory to the next.
_COPIED: Final = (_CONTEXT, "copy_context_skas0")

#: The driver of virtual radios, where kernels before 6.4 have it. Later ones have a queue per flow
#: in mac80211 above it, which does not refuse packets as a queue of the device does.
_HWSIM: Final = "drivers/net/wireless/mac80211_hwsim.c"
_NO_SUCH_FILE: Final = r"\A\Z"

#: Counts the frames of a hardware queue that the medium has, and stops and wakes the queue.
_SIGNATURE: Final = (
    "static void airtoll_waits(struct mac80211_hwsim_data *data,\n"
    "\t\t\t  struct sk_buff *skb, int by)\n"
)
_LIMITED: Final = f"""{_SIGNATURE}{{
	int queue = IEEE80211_SKB_CB(skb)->hw_queue;
	unsigned long flags;

	spin_lock_irqsave(&data->pending.lock, flags);
	data->tx_waiting[queue] += by;
	if (data->tx_limit && data->tx_waiting[queue] >= data->tx_limit)
		ieee80211_stop_queue(data->hw, queue);
	else if (by < 0 && ieee80211_queue_stopped(data->hw, queue))
		ieee80211_wake_queue(data->hw, queue);
	spin_unlock_irqrestore(&data->pending.lock, flags);
}}

"""

#: Kernels before 6.13 keep the floating-point state of a process in a buffer of 2696 octets, and
#: hand it to ptrace, which takes the whole XSAVE area or nothing. With AMX that is 11008 octets
#: (Intel SDM vol. 1, section 13.5), so every process would die of EFAULT.
#:
#: A kernel that is killed lets go of the processes that it traces. They would run on, on the host
#: and untraced, unless they die with it (ptrace(2), PTRACE_O_EXITKILL).
#:
#: With the variable ``SEED_VARIABLE`` the kernel's randomness follows from the seed in it, and a
#: program that reads the processor's time stamp counter reads the guest's clock: the host's counter
#: would differ from run to run (OpenSSL adds it to its generator's input).
#:
#: A serial line whose reader is a while behind (4096 octets) takes its descriptor out of the poll
#: set and never puts it back: the line is dead. Not reading for that while is enough: the reader,
#: once it has caught up, reads the octets that came meanwhile. A reader outside of the interrupt
#: disables the interrupt: two readers at once would lose octets.
#:
#: A system call of a process, or a page that it touches for the first time, is a dozen system calls
#: of the host: half of the time of a trial went into four of their causes.
#:
#: - The floating-point state moves to the kernel and back at each of them. It can stay in the
#:   host's process until another task runs, a signal needs it, or a child copies it.
#: - A task that shares the memory of another one (a thread, or a child of vfork(2)) has all of its
#:   pages mapped anew. Only a child of fork(2) needs it.
#: - The host process of a new program begins as a copy of that of its parent, whose thousands of
#:   mappings are then removed. It can begin as a copy of the kernel's own.
#: - A page that was faulted in around another one (64 KiB of a file) is mapped by a fault of its
#:   own. The whole surroundings can be mapped at once.
#:
#: A virtual radio never stops its queues: the device would take every packet, and the medium would
#: have to drop those for which its queue has no room. With the file ``tx_limit`` in its debugfs a
#: radio stops a hardware queue while that many of its frames wait for a report.
EDITS: Final = (
    Edit(
        "arch/x86/um/user-offsets.c",
        r"DEFINE_LONGS\(HOST_FP_SIZE, 2696\)",
        "DEFINE_LONGS(HOST_FP_SIZE, 12288)",
        unless=r"\A(?!.*HOST_FP_SIZE)",
    ),
    Edit(
        "arch/um/os-Linux/skas/process.c",
        r"\(void \*\) ?PTRACE_O_TRACESYSGOOD\)",
        "(void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))",
        unless="PTRACE_O_EXITKILL",
    ),
    Edit(
        "arch/um/drivers/line.c",
        r"deactivate_chan\(line->chan_in, line->read_irq\);\s*line->throttled = 1;",
        "line->throttled = 1;",
    ),
    Edit(
        "arch/um/drivers/line.c",
        r"if \(line\)(\s*chan_interrupt\(line, irq\);)",
        r"if (line && !line->throttled)\1",
    ),
    Edit(
        "arch/um/drivers/line.c",
        r"line->throttled = 0;\s*chan_interrupt\(line, line->read_irq\);",
        "unsigned long flags;\n\n\tlocal_irq_save(flags);\n\tline->throttled = 0;\n"
        "\tchan_interrupt(line, line->read_irq);\n\tlocal_irq_restore(flags);",
    ),
    Edit(
        "arch/um/drivers/chan_kern.c",
        r"if \(!line->throttled\)\s*chan_interrupt\(line, line->read_irq\);",
        "unsigned long flags;\n\n\tlocal_irq_save(flags);\n\tif (!line->throttled)\n"
        "\t\tchan_interrupt(line, line->read_irq);\n\tlocal_irq_restore(flags);",
    ),
    Edit(
        "arch/um/os-Linux/util.c",
        r"return getrandom\(buf, len, flags\);",
        _SEEDED,
    ),
    Edit(
        "arch/um/os-Linux/skas/process.c",
        r"ptrace\(PTRACE_TRACEME, 0, 0, 0\);",
        'ptrace(PTRACE_TRACEME, 0, 0, 0);\n\tif (getenv("AIRTOLL_SEED"))\n'
        "\t\tprctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);",
    ),
    Edit(
        "arch/um/os-Linux/skas/process.c",
        r"#include <sys/wait\.h>",
        "#include <sys/wait.h>\n#include <sys/prctl.h>",
    ),
    Edit(
        "arch/um/kernel/trap.c",
        r"#include <linux/uaccess\.h>",
        "#include <linux/uaccess.h>\n#include <linux/ktime.h>\n#include <linux/timekeeping.h>",
    ),
    Edit(
        "arch/um/kernel/trap.c",
        r"(?=/\*\*\n \* segv_handler\(\))",
        _TIME_STAMP,
    ),
    Edit(
        "arch/um/kernel/trap.c",
        r"(if \(UPT_IS_USER\(regs\) && !SEGV_IS_FIXABLE\(fi\)\) \{)",
        r"\1\n\t\tif (airtoll_time_stamp(regs))\n\t\t\treturn;",
    ),
    Edit(
        _HOST_PROCESS,
        r"(?=void userspace\(struct uml_pt_regs \*regs, unsigned long \*aux_fp_regs\)\n\{)",
        _FLOATING_POINT,
        only=_COPIED,
    ),
    Edit(
        _HOST_PROCESS,
        r"\t\tif \(put_fp_registers\(pid, regs->fp\)\) \{",
        r"\t\tif (airtoll_load_fp(pid, regs)) {",
        only=_COPIED,
    ),
    Edit(
        _HOST_PROCESS,
        r"\t\tif \(get_fp_registers\(pid, regs->fp\)\) \{\n(?:.*\n){3}\t\t\}\n\n",
        "",
        only=_COPIED,
    ),
    Edit(
        "arch/um/include/asm/mmu_context.h",
        r"(?=#include <asm-generic/mmu_context\.h>)",
        "void airtoll_fetch_fp(void);\nvoid airtoll_forget_fp(struct uml_pt_regs *regs);\n\n"
        "#define deactivate_mm(tsk, mm) airtoll_forget_fp(&(tsk)->thread.regs.regs)\n\n",
        only=_COPIED,
    ),
    Edit(
        _SIGNAL,
        r"(#include <skas\.h>\n)",
        r"\1#include <asm/mmu_context.h>\n",
        only=_COPIED,
    ),
    Edit(_SIGNAL, r"(\tint err, pid;\n)", r"\1\n\tairtoll_fetch_fp();\n", only=_COPIED),
    Edit(
        _TASK,
        r"(\tif \(!args->fn\) \{\n)(\s*memcpy\()",
        r"\1\t\tairtoll_fetch_fp();\n\2",
        only=_COPIED,
    ),
    Edit(
        _TASK,
        r"(#include <skas\.h>\n)",
        r"\1#include <asm/mmu_context.h>\n",
        only=_COPIED,
    ),
    Edit(
        _TASK,
        r"(void fork_handler\(void\)\n\{\n)(\tforce_flush_all\(\);)",
        r"\1\tif (atomic_read(&current->mm->mm_users) == 1)\n\t\2",
        only=_COPIED,
    ),
    Edit(
        _CONTEXT,
        r"(\tunsigned long stack = 0;\n)",
        r"\1\tvoid *data = NULL;\n",
        only=_COPIED,
    ),
    Edit(
        _CONTEXT,
        r"(?=\tret = init_new_ldt\(to_mm, from_mm\);)",
        r"\tret = unmap(&to_mm->id, 0, TASK_SIZE, 1, &data);\n"
        r"\tif (ret < 0)\n\t\tgoto out_free;\n\n",
        only=_COPIED,
    ),
    Edit(
        "arch/um/kernel/trap.c",
        r"\tflush_tlb_page\(vma, address\);\nout:",
        r"\tflush_tlb_range(vma, max(vma->vm_start, address & ~0xffffUL),\n"
        r"\t\t\tmin(vma->vm_end, (address | 0xffffUL) + 1));\nout:",
        only=_COPIED,
    ),
    # The last of these edits: it removes the word by which they know the kernel.
    Edit(
        _CONTEXT,
        r"\tif \(from_mm\)\n(\t\tto_mm->id\.u\.pid = )copy_context_skas0\([^;]*;\n\telse [^;]*;",
        r"\tto_mm->id.u.pid = start_userspace(stack);",
        only=_COPIED,
    ),
    Edit(
        _HWSIM,
        r"(struct sk_buff_head pending;\t[^\n]*\n)",
        r"\1\tu32 tx_limit;\n\tu32 tx_waiting[IEEE80211_MAX_QUEUES];\n",
        unless=_NO_SUCH_FILE,
    ),
    Edit(
        _HWSIM,
        r"(?=static void mac80211_hwsim_tx_frame_nl\(struct ieee80211_hw \*hw,[^;{]*\{)",
        _LIMITED,
        unless=_NO_SUCH_FILE,
    ),
    Edit(
        _HWSIM,
        r"(skb_queue_tail\(&data->pending, my_skb\);)",
        r"\1\n\tairtoll_waits(data, my_skb, 1);",
        unless=_NO_SUCH_FILE,
    ),
    Edit(
        _HWSIM,
        r"ieee80211_free_txskb\(hw, skb_dequeue\(&data->pending\)\);",
        "struct sk_buff *oldest = skb_dequeue(&data->pending);\n\n"
        "\t\t\tairtoll_waits(data, oldest, -1);\n\t\t\tieee80211_free_txskb(hw, oldest);",
        unless=_NO_SUCH_FILE,
    ),
    Edit(
        _HWSIM,
        r"while \(\(skb = skb_dequeue\(&data->pending\)\)\)\s*ieee80211_free_txskb\(hw, skb\);",
        "while ((skb = skb_dequeue(&data->pending))) {\n\t\tairtoll_waits(data, skb, -1);\n"
        "\t\tieee80211_free_txskb(hw, skb);\n\t}",
        unless=_NO_SUCH_FILE,
    ),
    Edit(
        _HWSIM,
        r"(/\* not found \*/\s*if \(!found\)\s*goto out;)",
        r"\1\n\n\tairtoll_waits(data2, skb, -1);",
        unless=_NO_SUCH_FILE,
    ),
    Edit(
        _HWSIM,
        r"(data->debugfs = debugfs_create_dir\([^;]*;)",
        r'\1\n\tdebugfs_create_u32("tx_limit", 0666, data->debugfs, &data->tx_limit);',
        unless=_NO_SUCH_FILE,
    ),
)


@frozen
class UmlKernel:
    """A built kernel. ``release``: as ``uname -r`` says in the guest."""

    release: str
    root: Path

    @property
    def program(self) -> Path:
        """The kernel, a program of this host."""
        return self.root / "linux"

    @property
    def modules(self) -> Path:
        """The module tree of this release."""
        return self.root / "lib" / "modules" / self.release


def configuration() -> Path:
    """The configuration: options that are not in it are off."""
    return Path(__file__).with_name("uml.config")


def digest() -> str:
    """Digest of the inputs of a kernel other than its source package."""
    parts = [configuration().read_text(), *(repr(asdict(edit)) for edit in EDITS)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def find() -> UmlKernel | None:
    """The newest kernel of the cache that is made of the present configuration, or None."""
    ready = sorted(
        (path.parent for path in cache_folder().glob(f"uml/*-{digest()}/.complete")),
        key=lambda folder: [int(part) for part in re.findall(r"\d+", folder.name)],
    )
    if not ready:
        return None
    return UmlKernel((ready[-1] / ".complete").read_text().strip(), ready[-1])


def is_outdated() -> bool:
    """Whether the cache has kernels, and none of the present configuration and edits."""
    return find() is None and any(cache_folder().glob("uml/*/.complete"))


def build(package: Path | None = None, say: Callable[[str], None] = lambda _: None) -> UmlKernel:
    """Compile a kernel into the cache, downloading its source with apt unless it is given.

    Raises ``EnvironmentProblem`` naming the tool, package or space that is missing.
    """
    _check_tools()
    base = cache_folder() / "uml"
    base.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(base).free < _ROOM_BYTES:
        raise EnvironmentProblem(
            f"guest: building a kernel takes {_ROOM_BYTES / 1e9:.1f} GB for a while; free as much "
            f"in {base}, or name another place in AIRTOLL_CACHE"
        )
    with tempfile.TemporaryDirectory(prefix=".build-", dir=base) as scratch:
        folder = Path(scratch)
        deb = package if package is not None else _download(folder, say)
        version = _run(["dpkg-deb", "--field", str(deb), "Version"], "read the package").strip()
        say(f"unpacking {deb.name}")
        source = _unpack(deb, folder)
        for edit in EDITS:
            apply(edit, source)
        configure(source)
        say("compiling; this takes some minutes")
        began = time.monotonic()
        made = _compile(source, folder / "made", base / "build.log")
        say(f"compiled in {time.monotonic() - began:.0f} s")
        name = re.sub(r"[^\w.+~-]", "_", version)
        target = base / f"{name}-{digest()}"
        shutil.rmtree(target, ignore_errors=True)
        made.root.rename(target)
        (target / ".complete").write_text(f"{made.release}\n")
    return UmlKernel(made.release, target)


def drop() -> None:
    """Remove the built kernels and the cached answers about them."""
    shutil.rmtree(cache_folder() / "uml", ignore_errors=True)
    (cache_folder() / "uml.json").unlink(missing_ok=True)


def apply(edit: Edit, source: Path) -> None:
    """Change one file of a source tree; raises ``EnvironmentProblem`` if it does not fit."""
    path = source / edit.file
    text = path.read_text() if path.exists() else ""
    if edit.unless is not None and re.search(edit.unless, text, re.DOTALL):
        return
    if edit.only is not None and not re.search(edit.only[1], (source / edit.only[0]).read_text()):
        return
    changed, count = re.subn(edit.pattern, edit.replacement, text)
    if count == 0:
        raise EnvironmentProblem(
            f"guest: {edit.file} of this kernel is not as expected; take {META_PACKAGE} of Debian "
            "12 or 13: airtoll guest build --driver uml --deb FILE"
        )
    path.write_text(changed)


def configure(source: Path) -> None:
    """Write .config: the lines of the configuration, and all other options off.

    Raises ``EnvironmentProblem`` if a line is not in the result.
    """
    _run(
        ["make", "ARCH=um", "allnoconfig"],
        "configure the kernel",
        cwd=source,
        KCONFIG_ALLCONFIG=str(configuration()),
    )
    lost = lost_lines(configuration().read_text(), (source / ".config").read_text())
    if lost:
        raise EnvironmentProblem(f"guest: this kernel does not take {', '.join(lost)}")


def lost_lines(wanted: str, given: str) -> list[str]:
    """The settings of one configuration that another does not have."""
    held = set(given.splitlines())
    return [line for line in wanted.splitlines() if line.startswith("CONFIG_") and line not in held]


def _compile(source: Path, target: Path, log: Path) -> UmlKernel:
    target.mkdir()
    make = ["nice", "make", "ARCH=um"]
    jobs = f"-j{os.cpu_count() or 1}"
    with log.open("wb") as out:
        done = subprocess.run(
            [*make, jobs, "linux", "modules"], cwd=source, stdout=out, stderr=out, check=False
        )
    if done.returncode != 0:
        errors = [line for line in log.read_text(errors="replace").splitlines() if "error" in line]
        said = errors[0].strip() if errors else "no error in the log"
        raise EnvironmentProblem(f"guest: the kernel does not compile: {said}; see {log}")
    install = [*make, f"INSTALL_MOD_PATH={target}", "modules_install"]
    _run(install, "collect the kernel's modules", cwd=source)
    # Links to the source tree, which is about to go.
    for link in target.glob("lib/modules/*/*"):
        if link.is_symlink():
            link.unlink()
    shutil.copy2(source / "linux", target / "linux")
    release = next((target / "lib" / "modules").iterdir()).name
    return UmlKernel(release, target)


def _unpack(deb: Path, folder: Path) -> Path:
    _run(["dpkg-deb", "--extract", str(deb), str(folder / "deb")], "unpack the source package")
    archives = sorted((folder / "deb" / "usr" / "src").glob("linux-source-*.tar.*"))
    if not archives:
        raise EnvironmentProblem(
            f"guest: {deb.name} holds no usr/src/linux-source-*.tar.*; give a linux-source package"
        )
    source = folder / "source"
    source.mkdir()
    unpack = ["tar", "--extract", "--file", str(archives[0]), "--strip-components=1"]
    _run([*unpack, "--directory", str(source)], "unpack the kernel's source")
    shutil.rmtree(folder / "deb")
    return source


def _download(folder: Path, say: Callable[[str], None]) -> Path:
    if shutil.which("apt-get") is None:
        raise EnvironmentProblem(
            "guest: no apt-get here; give a Debian source package: "
            "airtoll guest build --driver uml --deb FILE"
        )
    depends = _run(["apt-cache", "depends", META_PACKAGE], "ask apt for the source's name")
    names = re.findall(r"Depends: (linux-source-[\d.]+)", depends)
    if not names:
        raise EnvironmentProblem(
            f"guest: apt knows no {META_PACKAGE}; refresh its lists: apt-get update"
        )
    say(f"downloading {names[0]}")
    _run(["apt-get", "download", names[0]], f"download {names[0]} (try apt-get update)", cwd=folder)
    return next(iter(folder.glob("linux-source-*.deb")))


def _check_tools() -> None:
    packages = {package for tool, package in _TOOLS.items() if shutil.which(tool) is None}
    if "gcc" not in packages:
        for header, package in _HEADERS.items():
            done = subprocess.run(
                ["gcc", "-E", "-x", "c", "-"],
                input=f"#include <{header}>\n".encode(),
                capture_output=True,
                check=False,
            )
            if done.returncode != 0:
                packages.add(package)
    if packages:
        raise EnvironmentProblem(
            "guest: a kernel cannot be built here: "
            f"apt-get install --no-install-recommends {' '.join(sorted(packages))}"
        )


def _run(argv: list[str], purpose: str, cwd: Path | None = None, **variables: str) -> str:
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise EnvironmentProblem(f"guest: cannot {purpose}: {last[0]}")
    return done.stdout
