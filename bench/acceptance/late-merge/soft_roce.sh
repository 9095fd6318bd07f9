# shellcheck shell=bash
# Sourced by acceptance items: guests with a device of soft-RoCE (rdma_rxe of Debian's kernel),
# emulated by QEMU without KVM, of Debian's packages alone. A guest has no disk but one for its
# results, and no network but the other guests.
#
#   soft_roce_lacks                  prints what this machine lacks, and the command that brings it
#   soft_roce_kernel FOLDER          downloads and unpacks Debian's kernel there, unless it is there
#   soft_roce_system FOLDER KERNEL   begins the guests' file system in FOLDER: busybox, iproute2,
#                                    the provider of verbs, modules, and guest_init as /init
#   soft_roce_add FOLDER FILE DIRECTORY [NAME]
#                                    puts a file there, with the libraries that it needs
#   soft_roce_pack FOLDER ARCHIVE    makes the archive that a guest is booted with
#   soft_roce_boot KERNEL ARCHIVE LOG DISK GUEST VARIABLES OPTION...
#                                    starts a guest in the background; `guests` has its process, too
#   soft_roce_await SECONDS          waits for all guests; those that take longer are ended, and 1
#   soft_roce_end                    ends all guests at once
#
# A guest dies with the shell that has started it.
soft_roce_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
guests=()

soft_roce_packages=(qemu-system-x86 busybox-static cpio kmod iproute2 rdma-core ibverbs-providers
                    libfabric1)
soft_roce_modules=(virtio_pci virtio_net virtio_blk virtio_rng dummy ib_uverbs rdma_cm rdma_ucm
                   rdma_rxe sch_netem
                   # rdma_rxe asks for it by name, and no dependency says so.
                   crc32_generic)

soft_roce_lacks() {
  local package missing=()
  for package in "${soft_roce_packages[@]}"; do
    dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] ||
    echo "${missing[*]} (apt-get install --no-install-recommends ${missing[*]})"
}

soft_roce_kernel() {
  local folder=$1 package
  [[ ! -d $folder ]] || return 0
  package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends:/ { print $2; exit }')
  [[ -n $package ]] || { echo "apt knows no linux-image-amd64 (apt-get update)"; return 1; }
  rm -rf "$folder.part"
  mkdir -p "$folder.part"
  (
    cd "$folder.part"
    apt-get download -qq "$package" 2>download.log ||
      { echo "$package can't be downloaded: $(tail -n 1 download.log)"; exit 1; }
    dpkg-deb --fsys-tarfile "$package"_*.deb |
      tar --extract --wildcards ./boot/vmlinuz-* './lib/modules/*/modules.*' \
        './lib/modules/*/kernel/crypto/*' './lib/modules/*/kernel/drivers/block/*' \
        './lib/modules/*/kernel/drivers/char/hw_random/*' \
        './lib/modules/*/kernel/drivers/infiniband/*' './lib/modules/*/kernel/drivers/net/*' \
        './lib/modules/*/kernel/drivers/virtio/*' './lib/modules/*/kernel/fs/configfs/*' \
        './lib/modules/*/kernel/lib/*' './lib/modules/*/kernel/net/*'
    rm -f "$package"_*.deb download.log
    # It warns of what was not unpacked.
    depmod --basedir . "$(ls lib/modules)" 2>/dev/null
  ) || { rm -rf "$folder.part"; return 1; }
  mv "$folder.part" "$folder"
}

soft_roce_add() {
  local folder=$1 file=$2 directory=$3 name=${4:-} library
  mkdir -p "$folder$directory"
  cp --dereference "$file" "$folder$directory/${name:-$(basename "$file")}"
  # A library that is linked statically has none.
  { ldd "$file" 2>/dev/null || true; } | grep -o '/[^ )]*' | while read -r library; do
    [[ -e $folder$library ]] && continue
    mkdir -p "$folder$(dirname "$library")"
    cp --dereference "$library" "$folder$library"
  done
}

soft_roce_system() {
  local folder=$1 kernel=$2 version name path libraries
  version=$(ls "$kernel/lib/modules")
  libraries=/usr/lib/x86_64-linux-gnu
  mkdir -p "$folder"/{bin,dev,etc/libibverbs.d,guest,modules,proc,root,sys,tmp}
  # /lib is a link on Debian, and the libraries' paths have it.
  cp "$(command -v busybox)" "$folder/bin/busybox"
  for name in "${soft_roce_modules[@]}"; do
    modprobe --dirname "$kernel" --set-version "$version" --show-depends "$name"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
    cp "$path" "$folder/modules/"
    name=$(basename "$path")
    # Else it makes a device by itself.
    [[ $name != dummy.ko ]] || name+=" numdummies=0"
    echo "$name"
  done >"$folder/modules/order"
  for name in ip tc rdma; do
    soft_roce_add "$folder" "$(PATH=$PATH:/usr/sbin:/sbin command -v "$name")" /bin "iproute-$name"
  done
  cp /etc/libibverbs.d/rxe.driver "$folder/etc/libibverbs.d/"
  for path in "$libraries"/libibverbs/librxe-*.so; do
    soft_roce_add "$folder" "$path" "$libraries/libibverbs"
  done
  # Who ends a thread loads it.
  soft_roce_add "$folder" "$libraries/libgcc_s.so.1" /lib/x86_64-linux-gnu
  cp "$soft_roce_folder/guest_init" "$folder/init"
  chmod +x "$folder/init"
}

soft_roce_pack() {
  (cd "$1" && find . | cpio --create --format=newc --quiet | gzip -1) >"$2"
}

soft_roce_boot() {
  local kernel=$1 archive=$2 log=$3 disk=$4 guest=$5 variables=$6
  shift 6
  setpriv --pdeathsig KILL qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 \
    -nographic -no-reboot -kernel "$kernel"/boot/vmlinuz-* -initrd "$archive" \
    -append "console=ttyS0 panic=-1 quiet mitigations=off edd=off guest=$guest $variables" \
    -drive "file=$disk,format=raw,if=virtio" -device virtio-rng-pci "$@" \
    </dev/null >"$log" 2>&1 &
  guests+=($!)
}

soft_roce_end() {
  local guest
  for guest in "${guests[@]}"; do
    kill -KILL "$guest" 2>/dev/null || true
    wait "$guest" 2>/dev/null || true
  done
  guests=()
}

soft_roce_await() {
  local deadline=$((SECONDS + $1)) guest code=0
  for guest in "${guests[@]}"; do
    while kill -0 "$guest" 2>/dev/null; do
      if ((SECONDS >= deadline)); then
        code=1
        break 2
      fi
      sleep 0.2
    done
  done
  soft_roce_end
  return $code
}
